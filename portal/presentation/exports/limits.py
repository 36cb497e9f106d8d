"""The limits that bind a caller, for programs."""

from collections.abc import Mapping, Sequence
from datetime import date

from portal.gateway.limits import Use


def limits_object(
    uses: Sequence[tuple[Use, date | None]], of_batches: Sequence[Use]
) -> Mapping[str, object]:
    """Return the limits that bind a caller, what is left of its own budget, and a forecast.

    The day of a limit is that on which it ends at its present rate, if it ends this month. The
    limits of the caller's batches under way come last.
    """
    budgets = [use for use, _ in uses if use.limit.period == "month"]
    own = [use.left for use in budgets if use.limit.scope != "portal"]
    return {
        "budget_left": min(own, default=None),
        "ends_on": min((day for _, day in uses if day), default=None),
        "limits": [
            {
                "scope": use.limit.scope,
                "period": use.limit.period,
                "unit": use.limit.unit,
                "most": use.limit.most,
                "used": use.used,
                "ends_at": use.ends_at,
            }
            for use in (*(use for use, _ in uses), *of_batches)
        ],
    }
