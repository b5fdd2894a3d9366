//! Time zones of places that people ask for.

/// The IANA zone of a city or country, or the text itself when it looks like a zone.
pub(super) fn zone(place: &str) -> String {
    let place = place.trim();
    let known = place.to_lowercase();
    let zone = ZONES.iter().find(|(names, _)| names.contains(&known.as_str()));
    match zone {
        Some((_, zone)) => (*zone).to_owned(),
        // The tool knows all zones and says so when this is none.
        None => place.replace(' ', "_"),
    }
}

const ZONES: &[(&[&str], &str)] = &[
    (&["utc", "gmt"], "UTC"),
    (&["tokyo", "japan", "东京", "日本"], "Asia/Tokyo"),
    (&["beijing", "shanghai", "china", "shenzhen", "北京", "上海", "中国"], "Asia/Shanghai"),
    (&["hong kong", "香港"], "Asia/Hong_Kong"),
    (&["taipei", "taiwan", "台北"], "Asia/Taipei"),
    (&["singapore", "新加坡"], "Asia/Singapore"),
    (&["seoul", "korea", "首尔"], "Asia/Seoul"),
    (&["delhi", "new delhi", "mumbai", "india", "印度"], "Asia/Kolkata"),
    (&["dubai", "迪拜"], "Asia/Dubai"),
    (&["moscow", "莫斯科"], "Europe/Moscow"),
    (&["london", "uk", "england", "伦敦"], "Europe/London"),
    (&["paris", "france", "巴黎"], "Europe/Paris"),
    (&["berlin", "germany", "柏林"], "Europe/Berlin"),
    (&["vienna", "austria"], "Europe/Vienna"),
    (&["zurich", "switzerland"], "Europe/Zurich"),
    (&["rome", "italy"], "Europe/Rome"),
    (&["madrid", "spain"], "Europe/Madrid"),
    (&["amsterdam", "netherlands"], "Europe/Amsterdam"),
    (&["stockholm", "sweden"], "Europe/Stockholm"),
    (&["new york", "nyc", "boston", "washington", "纽约"], "America/New_York"),
    (&["chicago"], "America/Chicago"),
    (&["denver"], "America/Denver"),
    (
        &["los angeles", "san francisco", "seattle", "california", "旧金山", "洛杉矶"],
        "America/Los_Angeles",
    ),
    (&["toronto"], "America/Toronto"),
    (&["são paulo", "sao paulo", "brazil"], "America/Sao_Paulo"),
    (&["sydney", "悉尼"], "Australia/Sydney"),
    (&["melbourne"], "Australia/Melbourne"),
    (&["auckland", "new zealand"], "Pacific/Auckland"),
    (&["cairo", "egypt"], "Africa/Cairo"),
    (&["johannesburg", "south africa"], "Africa/Johannesburg"),
];
