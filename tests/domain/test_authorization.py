from hypothesis import given
from hypothesis import strategies as st

from domain.authorization import (
    Principal,
    Role,
    Scope,
    acts_for,
    may_find_locker,
    may_look_up_owner,
    may_record_events,
    may_reserve,
    may_see_location,
    may_see_locker,
    may_see_lockers,
    may_see_next_reservations,
    may_see_notifications,
    may_see_reservation,
    may_transfer,
)
from domain.models import LocationId, LockerId, OwnerId, ReservableBy

ADA, BOB, ORG = OwnerId("ada"), OwnerId("bob"), OwnerId("org")
L1, L2 = LockerId("l1"), LockerId("l2")
PLACE = LocationId("01HX0000000000000000000001")

OWNERS = st.sampled_from([ADA, BOB, ORG])
LOCKERS = st.sampled_from([L1, L2])
SCOPES = st.sampled_from(list(Scope))


def principals(*roles: Role) -> st.SearchStrategy[Principal]:
    """Principals with all their fields set at random, also those that their role does not use."""
    return st.builds(
        Principal,
        subject=st.just("somebody"),
        role=st.sampled_from(roles),
        owner_id=st.none() | OWNERS,
        organizations=st.frozensets(OWNERS),
        partner_of=st.frozensets(OWNERS),
        locker_id=st.none() | LOCKERS,
        location_id=st.none() | st.just(PLACE),
        scopes=st.frozensets(SCOPES),
    )


@given(principals(Role.DEVICE), OWNERS, OWNERS, SCOPES, LOCKERS)
def test_a_device_may_only_record_events_of_its_own_locker_and_see_it(
    principal: Principal, one: OwnerId, other: OwnerId, scope: Scope, locker_id: LockerId
) -> None:
    assert not acts_for(principal, one, scope)
    assert not may_look_up_owner(principal, one)
    assert not may_see_notifications(principal, one)
    assert not may_see_lockers(principal, one)
    assert not may_transfer(principal, one, other)
    assert not any(may_reserve(principal, one, audience, other) for audience in ReservableBy)
    assert not may_see_reservation(principal, one, other)
    assert may_see_location(principal, PLACE) == (principal.location_id == PLACE)
    own = locker_id == principal.locker_id
    assert may_record_events(principal, locker_id, one) == own
    assert may_see_locker(principal, one, locker_id) == may_see_next_reservations(principal, one, locker_id) == own
    assert all(may_find_locker(principal, one, locker_id, audience) == own for audience in ReservableBy)


@given(principals(Role.OWNER), OWNERS, OWNERS, SCOPES)
def test_an_owner_acts_for_itself_and_uses_lockers_of_its_organizations(
    principal: Principal, one: OwnerId, other: OwnerId, scope: Scope
) -> None:
    own, member = one == principal.owner_id, one in principal.organizations
    assert acts_for(principal, one, scope) == own
    assert may_see_notifications(principal, one) == own
    assert may_see_lockers(principal, one) == may_look_up_owner(principal, one) == (own or member)
    assert may_see_next_reservations(principal, one, L1) == own
    may_use = {"OWNER": own, "MEMBERS": own or member, "EVERYONE": True}
    for audience in ReservableBy:
        assert may_reserve(principal, one, audience, other) == (may_use[audience] and other == principal.owner_id)
        assert may_find_locker(principal, one, L1, audience) == (own or member or may_use[audience])
    assert may_see_reservation(principal, one, other) == (principal.owner_id in {one, other})
    assert may_transfer(principal, one, other) == (own and (other == one or other in principal.organizations))
    assert not may_record_events(principal, L1, one)
    assert may_see_location(principal, PLACE)


@given(principals(Role.PARTNER), OWNERS, OWNERS, SCOPES)
def test_a_partner_has_its_scopes_for_the_owners_it_may_act_for(
    principal: Principal, one: OwnerId, other: OwnerId, scope: Scope
) -> None:
    bound, both = one in principal.partner_of, {one, other} <= principal.partner_of
    scopes = principal.scopes
    assert acts_for(principal, one, scope) == (bound and scope in scopes)
    assert may_look_up_owner(principal, one) == bound
    assert may_see_lockers(principal, one) == (bound and Scope.LOCKERS_READ in scopes)
    assert may_see_next_reservations(principal, one, L1) == (bound and Scope.RESERVATIONS_READ in scopes)
    assert may_transfer(principal, one, other) == (both and Scope.LOCKERS_WRITE in scopes)
    for audience in ReservableBy:
        may_use = other in principal.partner_of if audience is ReservableBy.EVERYONE else both
        assert may_reserve(principal, one, audience, other) == (may_use and Scope.RESERVATIONS_WRITE in scopes)
    assert may_record_events(principal, L1, one) == (bound and Scope.EVENTS_WRITE in scopes)
    assert not may_record_events(principal, L1, None)
    assert not may_see_notifications(principal, one)
    assert may_see_location(principal, PLACE)
