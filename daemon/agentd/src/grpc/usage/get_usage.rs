//! Sums up what model requests used.

use agentd_domain::Day;
use agentd_engine::{UsageGrouping, UsageQuery};
use agentd_proto::v1;
use tonic::Status;

use crate::grpc::status::{bad_field, from_command};
use crate::grpc::{Context, from_proto, to_proto};

/// Days before the last one when the client names no first day.
const DEFAULT_DAYS: u32 = 30;
/// Most days of a range: ten years, which is a few thousand sums for each model.
const MAX_DAYS: u32 = 3_660;

pub(super) async fn handle(
    ctx: &Context,
    request: v1::GetUsageRequest,
) -> Result<v1::GetUsageResponse, Status> {
    let query = query(&request, ctx.engine.today())?;
    let report = ctx.engine.usage(&query).await.map_err(|error| from_command(&error))?;
    let budgets = ctx.engine.budgets().await.map_err(|error| from_command(&error))?;
    Ok(to_proto::usage_report(&report, &budgets))
}

fn query(request: &v1::GetUsageRequest, today: Day) -> Result<UsageQuery, Status> {
    let v1::GetUsageRequest { group_by, from_day, to_day, session_id } = request;
    let to = if *to_day == 0 { today } else { Day(*to_day) };
    let from = if *from_day == 0 { to.earlier(DEFAULT_DAYS) } else { Day(*from_day) };
    if from > to {
        return Err(bad_field(
            "from_day",
            &format!("{from} is after {to}"),
            "give a first day that is not after the last one",
        ));
    }
    if to.0 - from.0 >= MAX_DAYS {
        return Err(bad_field(
            "from_day",
            &format!("{from} to {to} are more than {MAX_DAYS} days"),
            "ask for fewer days",
        ));
    }
    Ok(UsageQuery {
        group_by: grouping(*group_by)?,
        from,
        to,
        session_id: from_proto::optional_id("session_id", session_id)?,
    })
}

fn grouping(number: i32) -> Result<UsageGrouping, Status> {
    match v1::UsageGrouping::try_from(number) {
        Ok(v1::UsageGrouping::Unspecified | v1::UsageGrouping::Day) => Ok(UsageGrouping::Day),
        Ok(v1::UsageGrouping::Model) => Ok(UsageGrouping::Model),
        Ok(v1::UsageGrouping::Session) => Ok(UsageGrouping::Session),
        Ok(v1::UsageGrouping::Purpose) => Ok(UsageGrouping::Purpose),
        Err(_unknown) => Err(bad_field(
            "group_by",
            &format!("{number} is not a grouping"),
            "use USAGE_GROUPING_DAY, _MODEL, _SESSION or _PURPOSE",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(request: &v1::GetUsageRequest) -> Result<(u32, u32), String> {
        query(request, Day(20_000))
            .map(|query| (query.from.0, query.to.0))
            .map_err(|status| status.message().to_owned())
    }

    fn days(from_day: u32, to_day: u32) -> v1::GetUsageRequest {
        v1::GetUsageRequest { from_day, to_day, ..Default::default() }
    }

    #[test]
    fn days_that_are_left_out_are_the_last_thirty() {
        assert_eq!(check(&days(0, 0)), Ok((19_970, 20_000)));
        assert_eq!(check(&days(19_999, 0)), Ok((19_999, 20_000)));
        assert_eq!(check(&days(0, 100)), Ok((70, 100)));
        assert_eq!(check(&days(5, 5)), Ok((5, 5)));
    }

    #[test]
    fn impossible_ranges_are_refused() {
        let error = |request| check(&request).expect_err("a refusal");
        assert_eq!(error(days(20_001, 0)), "from_day: 2024-10-05 is after 2024-10-04");
        assert_eq!(
            error(days(1, 20_000)),
            "from_day: 1970-01-02 to 2024-10-04 are more than 3660 days"
        );
        let group_by = v1::GetUsageRequest { group_by: 9, ..Default::default() };
        assert_eq!(error(group_by), "group_by: 9 is not a grouping");
        let session = v1::GetUsageRequest { session_id: "x".to_owned(), ..Default::default() };
        assert!(error(session).starts_with("session_id: "));
    }
}
