"""Results of attacks as tests need them."""

from __future__ import annotations

from querycloak.attacks.result import AttackResult, Baseline

BLIND = Baseline(kind="guessing", rate=0.0, low=0.0, high=0.0, targets=0)


def found(attack, rate, *, risk="link", low=0.0, high=1.0, **more):
    """A result with this rate; the baseline is 0."""
    plain = {"question": "linkability", "knows": "", "unit": "person", "bound": None, "targets": 9, "baseline": BLIND}
    values = {**plain, "lift": rate, "lift_low": low, "lift_high": high, **more}
    return AttackResult(attack=attack, risk=risk, rate=rate, low=low, high=high, **values)
