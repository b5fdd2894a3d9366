//! Pictures of the workspace.

use agentd_domain::ToolStatus;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::harness::{Place, assert_refused};

/// The beginning of a PNG of this size, which is all that is looked at.
fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend([8, 2, 0, 0, 0]);
    bytes
}

#[tokio::test]
async fn a_picture_goes_to_the_model_as_it_is() {
    let place = Place::new();
    let bytes = png(640, 480);
    place.write("shot.txt", &bytes);
    let result = place.call("view_image", json!({"path": "shot.txt"})).await;
    assert_eq!(result.status, ToolStatus::Success);
    assert_eq!(result.output, "[shot.txt: PNG, 640 x 480 pixels, 29 bytes]");
    let image = result.image.expect("a picture");
    assert_eq!(image.media_type, "image/png");
    assert_eq!(STANDARD.decode(&image.data_base64).expect("base 64"), bytes);
    // Its bytes are no text for logs.
    assert!(!format!("{image:?}").contains(&image.data_base64));
}

#[tokio::test]
async fn what_is_no_picture_or_too_large_is_not_sent() {
    let place = Place::new();
    let refused = async |name: &str, bytes: &[u8], code: &str| {
        place.write(name, bytes);
        let result = place.call("view_image", json!({ "path": name })).await;
        assert_refused(&result, code);
        assert!(result.image.is_none());
    };
    refused("a.png", b"not a picture", "NOT_AN_IMAGE").await;
    refused("a.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "NOT_AN_IMAGE").await;
    refused("cut.png", png(1, 1).get(..18).expect("a part"), "NOT_AN_IMAGE").await;
    refused("wide.png", &png(8_001, 10), "IMAGE_TOO_LARGE").await;
    refused("none.png", &png(0, 10), "IMAGE_TOO_LARGE").await;
    let mut large = png(100, 100);
    large.resize(1024 * 1024 + 1, 0);
    refused("large.png", &large, "IMAGE_TOO_LARGE").await;
    let outside = place.call("view_image", json!({"path": "../outside/victim"})).await;
    assert_refused(&outside, "PATH_OUTSIDE_WORKSPACE");
}
