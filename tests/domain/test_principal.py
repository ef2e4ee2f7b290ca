"""Who may do what: the rules alone, for every role."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import ForbiddenError, MissingError
from domain.models import LockerId, OwnerId
from domain.principal import (
    DEVELOPMENT_ADMIN,
    Principal,
    Role,
    Scope,
    absent,
    acts_for,
    is_member,
    may_decide_as,
    may_reach_owner,
    may_record_events,
    may_reserve,
    may_see_locker,
    may_see_notifications,
    may_see_places,
    may_see_reservation,
    may_transfer,
    require,
)
from tests.principals import device, owner, partner

ADA, BOB, ORG = OwnerId("ada"), OwnerId("bob"), OwnerId("org")
L1, L2 = LockerId("l1"), LockerId("l2")
MEMBER = owner("ada", "org")

OWNERS = st.sampled_from([ADA, BOB, ORG])
SCOPES = st.frozensets(st.sampled_from(list(Scope)))
SETS = st.frozensets(OWNERS)
LOCKERS = st.sampled_from([L1, L2])


@st.composite
def principals(draw: st.DrawFn, *roles: Role) -> Principal:
    """Anybody, with values where their role has no use for them too."""
    return Principal(
        subject="somebody",
        role=draw(st.sampled_from(roles or tuple(Role))),
        owner_id=draw(st.none() | OWNERS),
        organizations=draw(SETS),
        partner_of=draw(SETS),
        locker_id=draw(st.none() | LOCKERS),
        scopes=draw(SCOPES),
    )


@given(principals(Role.ADMIN), OWNERS, OWNERS, st.sampled_from(list(Scope)))
def test_an_admin_may_do_everything(principal: Principal, one: OwnerId, other: OwnerId, scope: Scope) -> None:
    assert acts_for(principal, one, scope)
    assert may_reach_owner(principal, one)
    assert may_see_notifications(principal, one)
    assert may_see_locker(principal, one)
    assert may_transfer(principal, one, other)
    assert may_reserve(principal, one, other)
    assert may_see_reservation(principal, one, None)
    assert may_record_events(principal, L1, None)
    assert may_see_places(principal)


@given(principals(Role.DEVICE), OWNERS, OWNERS, st.sampled_from(list(Scope)), LOCKERS)
def test_a_device_may_record_for_its_own_locker_and_nothing_else(
    principal: Principal, one: OwnerId, other: OwnerId, scope: Scope, locker_id: LockerId
) -> None:
    assert not acts_for(principal, one, scope)
    assert not may_reach_owner(principal, one)
    assert not may_see_notifications(principal, one)
    assert not may_see_locker(principal, one)
    assert not may_transfer(principal, one, other)
    assert not may_reserve(principal, one, other)
    assert not may_see_reservation(principal, one, other)
    assert not may_see_places(principal)
    assert may_record_events(principal, locker_id, one) == (locker_id == principal.locker_id)


@given(principals(Role.OWNER), OWNERS, OWNERS, st.sampled_from(list(Scope)))
def test_an_owner_needs_no_scope_and_acts_for_itself_alone(
    principal: Principal, one: OwnerId, other: OwnerId, scope: Scope
) -> None:
    own, member = one == principal.owner_id, one in principal.organizations
    assert acts_for(principal, one, scope) == own
    assert may_see_notifications(principal, one) == own
    assert may_see_locker(principal, one) == may_reach_owner(principal, one) == (own or member)
    assert may_reserve(principal, one, other) == ((own or member) and other == principal.owner_id)
    assert may_see_reservation(principal, one, other) == (principal.owner_id in {one, other})
    assert not may_record_events(principal, L1, one)


@given(principals(Role.PARTNER), OWNERS, OWNERS, st.sampled_from(list(Scope)))
def test_a_partner_has_what_its_scopes_name_for_the_owners_it_is_bound_to(
    principal: Principal, one: OwnerId, other: OwnerId, scope: Scope
) -> None:
    bound, both = one in principal.partner_of, {one, other} <= principal.partner_of
    scopes = principal.scopes
    assert acts_for(principal, one, scope) == (bound and scope in scopes)
    assert may_reach_owner(principal, one) == bound
    assert may_see_locker(principal, one) == (bound and Scope.LOCKERS_READ in scopes)
    assert may_transfer(principal, one, other) == (both and Scope.LOCKERS_WRITE in scopes)
    assert may_reserve(principal, one, other) == (both and Scope.RESERVATIONS_WRITE in scopes)
    assert may_record_events(principal, L1, one) == (bound and Scope.EVENTS_WRITE in scopes)
    assert not may_record_events(principal, L1, None)
    assert not may_see_notifications(principal, one)
    assert may_see_places(principal)


@given(principals(Role.OWNER, Role.PARTNER, Role.DEVICE), OWNERS)
def test_nobody_but_an_admin_decides_whomever_they_name(principal: Principal, admin_id: OwnerId) -> None:
    assert not may_decide_as(principal, admin_id)


def test_an_admin_who_is_an_owner_too_decides_in_its_own_name() -> None:
    own = Principal(subject="root", role=Role.ADMIN, owner_id=ADA)
    assert may_decide_as(own, ADA)
    assert not may_decide_as(own, BOB)
    assert may_decide_as(DEVELOPMENT_ADMIN, BOB)


def test_a_member_gives_a_locker_to_its_organisation_and_takes_none_from_it() -> None:
    assert may_transfer(MEMBER, ADA, ORG)
    assert not may_transfer(MEMBER, ORG, ADA)
    assert not may_transfer(MEMBER, ADA, BOB)


def test_only_an_owner_is_a_member_of_anything() -> None:
    assert is_member(MEMBER, ORG)
    assert not is_member(MEMBER, ADA)
    assert not is_member(partner(*Scope, of="org"), ORG)
    assert not is_member(device("l1"), ORG)


@pytest.mark.parametrize("principal", [owner("ada"), partner(*Scope), device("l1")])
def test_what_is_missing_and_what_is_refused_are_told_in_the_same_words(principal: Principal) -> None:
    missing = absent(principal, "There is no locker l9.", ("input", "lockerId"))
    with pytest.raises(ForbiddenError) as refused:
        require(allowed=False, path=("input", "lockerId"))
    assert isinstance(missing, ForbiddenError)
    assert (missing.message, missing.path) == (refused.value.message, refused.value.path)


def test_an_admin_is_told_what_is_missing() -> None:
    missing = absent(DEVELOPMENT_ADMIN, "There is no locker l9.", ("input", "lockerId"))
    assert isinstance(missing, MissingError)
    assert missing.message == "There is no locker l9."


def test_what_is_allowed_passes() -> None:
    require(allowed=True)
