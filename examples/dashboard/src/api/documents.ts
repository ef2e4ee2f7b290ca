/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
/** Purpose of an access code. */
export type AccessCodeKind =
  /** A reservation of a locker: valid as long as the reservation is. */
  | 'RESERVATION'
  /** A single opening of a locker. */
  | 'ONE_TIME'
  /** Several openings of a locker. */
  | 'COURIER'
  /** Staff of a locker's owner, without a limit of uses. */
  | 'STANDING'
  /** An approved booking: valid for its half days at the door of the location. */
  | 'BOOKING';

/** State of an access code. */
export type AccessCodeState =
  /** The code is not valid yet. */
  | 'SCHEDULED'
  /** The code opens its door. */
  | 'ACTIVE'
  /** The code was used as often as it can be. */
  | 'USED_UP'
  /** The code was revoked. */
  | 'REVOKED'
  /** The code is no longer valid: its time has passed, or its reservation or booking has ended. */
  | 'EXPIRED';

/** Kind of an activity. In the log it is written `reservation.created`. */
export type ActivityKind =
  /** A locker was registered. */
  | 'LOCKER_REGISTERED'
  /** A locker was renamed, configured or moved. */
  | 'LOCKER_CHANGED'
  /** The status of a locker changed, by itself or with the start or the release of a reservation. */
  | 'LOCKER_STATUS_CHANGED'
  /** A locker got another owner. */
  | 'LOCKER_TRANSFERRED'
  /** A locker left service for good. */
  | 'LOCKER_RETIRED'
  /** A location was created. */
  | 'LOCATION_CREATED'
  /** A location was changed. */
  | 'LOCATION_CHANGED'
  /** A location was deactivated. */
  | 'LOCATION_DEACTIVATED'
  /** A location was reactivated. */
  | 'LOCATION_REACTIVATED'
  /** An owner was created. */
  | 'OWNER_CREATED'
  /** An owner was changed, or is going to be erased. */
  | 'OWNER_CHANGED'
  /** Everything that told who an owner was has been erased. Only its id is left. */
  | 'OWNER_ERASED'
  /** A locker was reserved. */
  | 'RESERVATION_CREATED'
  /** The end of a reservation was moved, or a locker that it still occupied after its end was released. */
  | 'RESERVATION_CHANGED'
  /** A reservation was checked in. */
  | 'RESERVATION_STARTED'
  /** A reservation was ended by its release. */
  | 'RESERVATION_RELEASED'
  /** A reservation was canceled. */
  | 'RESERVATION_CANCELLED'
  /** The time of a reservation was over. It is completed, expired without a check-in, or still in its locker. */
  | 'RESERVATION_ENDED'
  /** The time of a reservation was over while it still occupied its locker. */
  | 'RESERVATION_OVERDUE'
  /** A booking was requested. */
  | 'BOOKING_REQUESTED'
  /** A booking was approved. */
  | 'BOOKING_APPROVED'
  /** A booking was rejected. */
  | 'BOOKING_REJECTED'
  /** A booking was canceled. */
  | 'BOOKING_CANCELLED'
  /** A payment for a booking was recorded. */
  | 'PAYMENT_RECORDED'
  /** A calendar event was created. */
  | 'CALENDAR_EVENT_CREATED'
  /** A calendar event was deleted. */
  | 'CALENDAR_EVENT_DELETED'
  /** An access code was created. */
  | 'ACCESS_CODE_CREATED'
  /** An access code got new digits. */
  | 'ACCESS_CODE_ROTATED'
  /** The digits of an access code were shown again. */
  | 'ACCESS_CODE_REVEALED'
  /** An access code was revoked. */
  | 'ACCESS_CODE_REVOKED'
  /** The device of a door acknowledged its list of access codes. */
  | 'ACCESS_CODE_LOADED'
  /** An access code opened its door. */
  | 'ACCESS_CODE_USED'
  /** Digits that open nothing were entered at a door. */
  | 'ACCESS_CODE_DENIED'
  /** A door got another device. */
  | 'DEVICE_PROVISIONED'
  /** A door refuses access codes for a time, after too many failures. */
  | 'DOOR_LOCKED_OUT'
  /** The lockout of a door was ended. */
  | 'DOOR_LOCKOUT_CLEARED'
  /** A door was opened or unlocked. */
  | 'DOOR_OPENED'
  /** A door was closed or locked. */
  | 'DOOR_CLOSED'
  /** A device refused access, or an action at a door failed. */
  | 'DOOR_ACCESS_DENIED'
  /** A locker was tampered with. */
  | 'DOOR_TAMPERED'
  /** A reservation started while the locker was still occupied by one that had ended. */
  | 'DOOR_OVERSTAYED'
  /** An API key was created. */
  | 'API_KEY_CREATED'
  /** An API key was suspended. */
  | 'API_KEY_SUSPENDED'
  /** A suspended API key was resumed. */
  | 'API_KEY_RESUMED'
  /** An API key was revoked. */
  | 'API_KEY_REVOKED'
  /** A caller got a budget of its own, another one, or the usual one again. */
  | 'CALLER_BUDGET_CHANGED'
  /** A webhook was created. */
  | 'WEBHOOK_CREATED'
  /** A webhook was changed, or got another secret. */
  | 'WEBHOOK_CHANGED'
  /** A webhook was enabled again. */
  | 'WEBHOOK_ENABLED'
  /** A webhook was disabled, by a caller or because deliveries to it failed. */
  | 'WEBHOOK_DISABLED'
  /** A webhook was deleted. */
  | 'WEBHOOK_DELETED';

/** Status of a booking. */
export type BookingStatus =
  /** The booking waits for a decision. */
  | 'PENDING'
  /** The booking was approved and is in the calendar. */
  | 'APPROVED'
  /** The booking was rejected. */
  | 'REJECTED'
  /** The booking was canceled by its owner. */
  | 'CANCELLED';

/** Input of `clearLockout`. */
export type ClearLockoutInput = {
  /** Id of the locker. Exactly one of lockerId and locationId is required. */
  lockerId?: string | number | null | undefined;
  /** Id of the location, if the door is a location's. */
  locationId?: string | number | null | undefined;
};

/** Status of a location. */
export type LocationStatus =
  /** The location accepts lockers and bookings. */
  | 'ACTIVE'
  /** The location accepts nothing new. Its code stays reserved. */
  | 'INACTIVE';

/** Size of a locker. */
export type LockerSize =
  /** Small. */
  | 'S'
  /** Medium. */
  | 'M'
  /** Large. */
  | 'L'
  /** Extra large. */
  | 'XL';

/** Status of a locker. */
export type LockerStatus =
  /** The locker can be used. */
  | 'AVAILABLE'
  /** The locker is in use. */
  | 'OCCUPIED'
  /** The locker is out of order and accepts no new reservations. */
  | 'MAINTENANCE'
  /** The locker has left service for good. `updatedAt` is the time at which it was retired. */
  | 'RETIRED';

/** Kind of an owner. */
export type OwnerKind =
  /** A person. */
  | 'USER'
  /** An organization. */
  | 'ORGANIZATION';

/** Who may reserve a locker, apart from its owner and the partners and admins who act for the owner. */
export type ReservableBy =
  /** Only the owner of the locker, and the partners and admins who act for the owner. */
  | 'OWNER'
  /** Members of the organization that owns the locker. */
  | 'MEMBERS'
  /** Every owner, and the partners who act for one. */
  | 'EVERYONE';

/** Status of a reservation. */
export type ReservationStatus =
  /** The reservation has not started yet. */
  | 'UPCOMING'
  /** The present moment is within the reservation. */
  | 'ACTIVE'
  /** The reservation was released, or has ended after a check-in. */
  | 'COMPLETED'
  /** The reservation has ended without a check-in. */
  | 'EXPIRED'
  /** The reservation was canceled before it started. */
  | 'CANCELLED';

/** Part of an object that a searched text is, from the most to the least certain. */
export type SearchMatch =
  /** Id of the object, or its global id. */
  | 'ID'
  /** Email address of the owner. */
  | 'EMAIL'
  /** Phone number of the owner. */
  | 'PHONE'
  /** Code of the location. */
  | 'LOCATION_CODE'
  /** Reference of the reservation. */
  | 'REFERENCE'
  /** Beginning of the name of the owner. */
  | 'NAME';

/** Input of `updateLockerStatus`. */
export type UpdateLockerStatusInput = {
  /** Id of the locker. */
  lockerId: string | number;
  /** New status of the locker. */
  newStatus: LockerStatus;
  /** Version of the object that the change is based on. */
  expectedVersion: number;
  /** Id of your choice for this change. Repeated with the same id and input while no other change followed, the request returns the object and changes nothing. */
  changeId?: string | number | null | undefined;
};

/** Reason why a mutation failed. */
export type UserErrorCode =
  /** A value of the input is invalid. */
  | 'BAD_USER_INPUT'
  /** An object that the input refers to does not exist. */
  | 'NOT_FOUND'
  /** The object was changed by someone else in the meantime. */
  | 'VERSION_CONFLICT'
  /** The locker cannot change to the requested status. */
  | 'INVALID_TRANSITION'
  /** The id was used before with different content. */
  | 'ID_TAKEN'
  /** The owner was erased, or is being erased: nothing can be made for it. */
  | 'OWNER_ERASED'
  /** The owner has lockers, reservations, bookings or webhooks that must be ended before it is erased. */
  | 'OWNER_IN_USE'
  /** The email address belongs to another owner. */
  | 'EMAIL_TAKEN'
  /** The locker is in maintenance and accepts no new reservations. */
  | 'LOCKER_IN_MAINTENANCE'
  /** The locker was retired: it can be neither reserved nor changed. */
  | 'LOCKER_RETIRED'
  /** Another reservation overlaps the requested window. */
  | 'RESERVATION_OVERLAP'
  /** The reservation has ended, or was canceled or released. */
  | 'RESERVATION_OVER'
  /** No locker was found that the caller may reserve and that is free in the window. */
  | 'NO_LOCKER_AVAILABLE'
  /** The reservation has started: it can be released, but not canceled. */
  | 'RESERVATION_STARTED'
  /** The reservation has not started: it can be canceled, but neither started nor released. */
  | 'RESERVATION_NOT_STARTED'
  /** Another reservation of the owner has this reference. */
  | 'REFERENCE_TAKEN'
  /** The owner has too many reservations that have not ended. */
  | 'TOO_MANY_RESERVATIONS'
  /** The caller is not allowed to do this. */
  | 'FORBIDDEN'
  /** The code is or was used by another location. */
  | 'CODE_TAKEN'
  /** The location is inactive and accepts nothing new. */
  | 'LOCATION_INACTIVE'
  /** The half day is taken by another event. */
  | 'SLOT_TAKEN'
  /** The booking was decided or canceled, or its day has passed. */
  | 'BOOKING_CLOSED'
  /** The owner has too many bookings that wait for a decision. */
  | 'TOO_MANY_PENDING_BOOKINGS'
  /** The access code is used up, revoked or expired. */
  | 'ACCESS_CODE_OVER'
  /** The door, the reservation or the booking has too many live access codes. */
  | 'TOO_MANY_ACCESS_CODES'
  /** The list of access codes has changed since the device read it. */
  | 'STALE_ACCESS_CODE_LIST'
  /** The owner has as many webhooks as it may have. */
  | 'TOO_MANY_WEBHOOKS';

/** Role of a caller. */
export type ViewerRole =
  /** Owner, or member of organizations. */
  | 'OWNER'
  /** Partner who acts for certain owners, as its scopes allow. */
  | 'PARTNER'
  /** Device of one locker. */
  | 'DEVICE'
  /** Administrator, who may do everything. */
  | 'ADMIN'
  /** Support, who reads what admins read, with few exceptions, and clears lockouts. */
  | 'SUPPORT';

/** Whether deliveries are sent to an endpoint. */
export type WebhookStatus =
  /** Deliveries are sent. */
  | 'ACTIVE'
  /** Nothing is sent. What happens meanwhile is sent when the endpoint is enabled again. */
  | 'DISABLED'
  /** It was deleted, and is forgotten when its deliveries have expired. */
  | 'DELETED';

export type DoorFragment = { lockerId: string, alias: string | null, size: LockerSize, status: LockerStatus | null, version: number | null, updatedAt: string | null, overdueSince: string | null, lockout: { lockedUntil: string | null, lockouts: number } | null, activeReservation: { reservationId: string, status: ReservationStatus, startAt: string, endAt: string, startedAt: string | null, owner: { name: string | null } | null } | null };

export type BoardQueryVariables = Exact<{
  locationId: string | number;
  after?: string | null | undefined;
}>;


export type BoardQuery = { location: { locationId: string, name: string, code: string, status: LocationStatus, timeZone: string, address: { city: string | null, country: string | null }, lockout: { lockedUntil: string | null } | null, figures: { liveReservations: number, overdue: number, asOf: string | null } | null, lockers: { nextCursor: string | null, nodes: Array<{ lockerId: string, alias: string | null, size: LockerSize, status: LockerStatus | null, version: number | null, updatedAt: string | null, overdueSince: string | null, lockout: { lockedUntil: string | null, lockouts: number } | null, activeReservation: { reservationId: string, status: ReservationStatus, startAt: string, endAt: string, startedAt: string | null, owner: { name: string | null } | null } | null }> } | null } | null, overdueReservations: { nodes: Array<{ lockerId: string, owner: { name: string | null } | null }> } | null };

export type BoardLiveSubscriptionVariables = Exact<{
  locationId: string | number;
  after?: string | null | undefined;
}>;


export type BoardLiveSubscription = { locationActivity: { activityId: string, cursor: string, kind: ActivityKind, occurredAt: string, lockerId: string | null, actor: { role: ViewerRole, subject: string | null } | null, locker: { locationId: string | null, lockerId: string, alias: string | null, size: LockerSize, status: LockerStatus | null, version: number | null, updatedAt: string | null, overdueSince: string | null, lockout: { lockedUntil: string | null, lockouts: number } | null, activeReservation: { reservationId: string, status: ReservationStatus, startAt: string, endAt: string, startedAt: string | null, owner: { name: string | null } | null } | null } | null } | null };

export type EntryFragment = { activityId: string, cursor: string, kind: ActivityKind, occurredAt: string, outcome: string | null, reservationId: string | null, codeId: string | null, actor: { role: ViewerRole, subject: string | null } | null, changes: Array<{ field: string, from: string | null, to: string | null }> };

export type LockerStateFragment = { lockerId: string, alias: string | null, size: LockerSize, features: Array<string>, status: LockerStatus | null, version: number | null, reservableBy: ReservableBy | null, updatedAt: string | null, overdueSince: string | null, locationId: string | null, activeReservation: { reservationId: string, status: ReservationStatus, startAt: string, endAt: string, owner: { name: string | null } | null } | null };

export type LockerPageQueryVariables = Exact<{
  lockerId: string | number;
  today: string;
}>;


export type LockerPageQuery = { locker: { lockerId: string, alias: string | null, size: LockerSize, features: Array<string>, status: LockerStatus | null, version: number | null, reservableBy: ReservableBy | null, updatedAt: string | null, overdueSince: string | null, locationId: string | null, owner: { ownerId: string, name: string | null } | null, location: { name: string } | null, lockout: { lockedUntil: string | null, lockouts: number } | null, reservations: { nodes: Array<{ reservationId: string, status: ReservationStatus, startAt: string, endAt: string, owner: { name: string | null } | null }> } | null, accessCodes: { nodes: Array<{ codeId: string, kind: AccessCodeKind, uses: number, maxUses: number | null, validity: { state: AccessCodeState, validUntil: string | null } | null }> } | null, activity: { nextCursor: string | null, nodes: Array<{ activityId: string, cursor: string, kind: ActivityKind, occurredAt: string, outcome: string | null, reservationId: string | null, codeId: string | null, actor: { role: ViewerRole, subject: string | null } | null, changes: Array<{ field: string, from: string | null, to: string | null }> }> } | null, activeReservation: { reservationId: string, status: ReservationStatus, startAt: string, endAt: string, owner: { name: string | null } | null } | null } | null };

export type MoreActivityQueryVariables = Exact<{
  lockerId: string | number;
  after: string;
}>;


export type MoreActivityQuery = { locker: { activity: { nextCursor: string | null, nodes: Array<{ activityId: string, cursor: string, kind: ActivityKind, occurredAt: string, outcome: string | null, reservationId: string | null, codeId: string | null, actor: { role: ViewerRole, subject: string | null } | null, changes: Array<{ field: string, from: string | null, to: string | null }> }> } | null } | null };

export type LockerLiveSubscriptionVariables = Exact<{
  lockerId: string | number;
  after?: string | null | undefined;
}>;


export type LockerLiveSubscription = { lockerActivity: { activityId: string, cursor: string, kind: ActivityKind, occurredAt: string, outcome: string | null, reservationId: string | null, codeId: string | null, locker: { lockerId: string, alias: string | null, size: LockerSize, features: Array<string>, status: LockerStatus | null, version: number | null, reservableBy: ReservableBy | null, updatedAt: string | null, overdueSince: string | null, locationId: string | null, activeReservation: { reservationId: string, status: ReservationStatus, startAt: string, endAt: string, owner: { name: string | null } | null } | null } | null, actor: { role: ViewerRole, subject: string | null } | null, changes: Array<{ field: string, from: string | null, to: string | null }> } | null };

export type ChangeStatusMutationVariables = Exact<{
  input: UpdateLockerStatusInput;
}>;


export type ChangeStatusMutation = { updateLockerStatus: { locker: { lockerId: string, alias: string | null, size: LockerSize, features: Array<string>, status: LockerStatus | null, version: number | null, reservableBy: ReservableBy | null, updatedAt: string | null, overdueSince: string | null, locationId: string | null, activeReservation: { reservationId: string, status: ReservationStatus, startAt: string, endAt: string, owner: { name: string | null } | null } | null } | null, userErrors: Array<
      | { message: string, code: UserErrorCode }
      | { message: string, code: UserErrorCode }
      | { message: string, code: UserErrorCode }
      | { message: string, code: UserErrorCode }
      | { message: string, code: UserErrorCode }
    > } };

export type ClearLockoutMutationVariables = Exact<{
  input: ClearLockoutInput;
}>;


export type ClearLockoutMutation = { clearLockout: { userErrors: Array<
      | { message: string }
      | { message: string }
      | { message: string }
      | { message: string }
      | { message: string }
    > } };

export type OverdueQueryVariables = Exact<{
  after?: string | null | undefined;
}>;


export type OverdueQuery = { overdueReservations: { nextCursor: string | null, nodes: Array<{ lockerId: string, reservationId: string, overdueSince: string, owner: { name: string | null } | null, locker: { alias: string | null, location: { locationId: string, name: string } | null } | null }> } | null };

export type OverdueLiveSubscriptionVariables = Exact<{
  after?: string | null | undefined;
}>;


export type OverdueLiveSubscription = { activity: { activityId: string, cursor: string, kind: ActivityKind, lockerId: string | null } | null };

export type OverviewQueryVariables = Exact<{
  after?: string | null | undefined;
}>;


export type OverviewQuery = { viewer: { ownerId: string | null }, locationFigures: { nextCursor: string | null, nodes: Array<{ locationId: string, liveReservations: number, overdue: number, asOf: string | null, lockers: Array<{ status: LockerStatus, count: number }>, location: { name: string, code: string, status: LocationStatus, address: { city: string | null, country: string | null, lat: string | null, lng: string | null } } | null }> } | null };

export type OverviewLiveSubscriptionVariables = Exact<{
  after?: string | null | undefined;
}>;


export type OverviewLiveSubscription = { activity: { activityId: string, cursor: string, kind: ActivityKind, occurredAt: string, locationId: string | null, changes: Array<{ field: string, from: string | null, to: string | null }> } | null };

export type OwnerPageQueryVariables = Exact<{
  ownerId: string | number;
  today: string;
}>;


export type OwnerPageQuery = { owner: { name: string | null, kind: OwnerKind | null, email: string | null, phone: string | null, figures: { liveReservations: number | null, overdue: number, asOf: string | null } | null, lockers: { nextCursor: string | null, nodes: Array<{ lockerId: string, alias: string | null, size: LockerSize, status: LockerStatus | null, overdueSince: string | null, location: { locationId: string, name: string } | null }> } | null, reservations: { nodes: Array<{ reservationId: string, lockerId: string, startAt: string, endAt: string, status: ReservationStatus, reference: string | null }> } | null } | null };

export type OwnerLiveSubscriptionVariables = Exact<{
  ownerId: string | number;
  after?: string | null | undefined;
}>;


export type OwnerLiveSubscription = { ownerActivity: { activityId: string, cursor: string, kind: ActivityKind } | null };

export type SearchQueryVariables = Exact<{
  text: string;
}>;


export type SearchQuery = { search: Array<{ matchedBy: Array<SearchMatch>, node:
      | { __typename: 'AccessCode', id: string }
      | { __typename: 'AccessEvent', id: string }
      | { __typename: 'Activity', id: string }
      | { __typename: 'ApiKey', id: string }
      | { __typename: 'Booking', bookingId: string, date: string, id: string, bookedLocation: string, bookingStatus: BookingStatus, owner: { name: string | null } | null }
      | { __typename: 'CalendarEvent', id: string }
      | { __typename: 'Location', locationId: string, code: string, id: string, place: string, address: { city: string | null } }
      | { __typename: 'Locker', lockerId: string, alias: string | null, id: string, lockerStatus: LockerStatus | null, location: { name: string } | null }
      | { __typename: 'Notification', id: string }
      | { __typename: 'Owner', ownerId: string, name: string | null, email: string | null, phone: string | null, id: string, ownerKind: OwnerKind | null }
      | { __typename: 'Payment', id: string }
      | { __typename: 'Reservation', reservationId: string, reference: string | null, startAt: string, endAt: string, id: string, reservedLocker: string, reservationStatus: ReservationStatus, owner: { name: string | null } | null }
      | { __typename: 'Webhook', webhookId: string, url: string, id: string, webhookStatus: WebhookStatus }
     }> | null };

export type UsageQueryVariables = Exact<{
  locationId: string | number;
  from: string;
  to: string;
}>;


export type UsageQuery = { location: { name: string, usage: Array<{ date: string, reservations: number, checkIns: number, opens: number, denials: number, noShows: number }> | null } | null };

export type UsageLiveSubscriptionVariables = Exact<{
  locationId: string | number;
  after?: string | null | undefined;
}>;


export type UsageLiveSubscription = { locationActivity: { activityId: string, cursor: string, kind: ActivityKind } | null };

export type ViewerQueryVariables = Exact<{ [key: string]: never; }>;


export type ViewerQuery = { viewer: { role: ViewerRole, ownerId: string | null } };

export const DoorFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Door"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Locker"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"lockerId"}},{"kind":"Field","name":{"kind":"Name","value":"alias"}},{"kind":"Field","name":{"kind":"Name","value":"size"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"version"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"overdueSince"}},{"kind":"Field","name":{"kind":"Name","value":"lockout"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"lockedUntil"}},{"kind":"Field","name":{"kind":"Name","value":"lockouts"}}]}},{"kind":"Field","name":{"kind":"Name","value":"activeReservation"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"reservationId"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"startAt"}},{"kind":"Field","name":{"kind":"Name","value":"endAt"}},{"kind":"Field","name":{"kind":"Name","value":"startedAt"}},{"kind":"Field","name":{"kind":"Name","value":"owner"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}}]}}]}}]}}]} as unknown as DocumentNode<DoorFragment, unknown>;
export const EntryFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Entry"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Activity"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"activityId"}},{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"occurredAt"}},{"kind":"Field","name":{"kind":"Name","value":"outcome"}},{"kind":"Field","name":{"kind":"Name","value":"reservationId"}},{"kind":"Field","name":{"kind":"Name","value":"codeId"}},{"kind":"Field","name":{"kind":"Name","value":"actor"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"role"}},{"kind":"Field","name":{"kind":"Name","value":"subject"}}]}},{"kind":"Field","name":{"kind":"Name","value":"changes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"field"}},{"kind":"Field","name":{"kind":"Name","value":"from"}},{"kind":"Field","name":{"kind":"Name","value":"to"}}]}}]}}]} as unknown as DocumentNode<EntryFragment, unknown>;
export const LockerStateFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"LockerState"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Locker"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"lockerId"}},{"kind":"Field","name":{"kind":"Name","value":"alias"}},{"kind":"Field","name":{"kind":"Name","value":"size"}},{"kind":"Field","name":{"kind":"Name","value":"features"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"version"}},{"kind":"Field","name":{"kind":"Name","value":"reservableBy"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"overdueSince"}},{"kind":"Field","name":{"kind":"Name","value":"locationId"}},{"kind":"Field","name":{"kind":"Name","value":"activeReservation"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"reservationId"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"startAt"}},{"kind":"Field","name":{"kind":"Name","value":"endAt"}},{"kind":"Field","name":{"kind":"Name","value":"owner"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}}]}}]}}]}}]} as unknown as DocumentNode<LockerStateFragment, unknown>;
export const BoardDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Board"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"location"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"locationId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"locationId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"timeZone"}},{"kind":"Field","name":{"kind":"Name","value":"address"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"city"}},{"kind":"Field","name":{"kind":"Name","value":"country"}}]}},{"kind":"Field","name":{"kind":"Name","value":"lockout"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"lockedUntil"}}]}},{"kind":"Field","name":{"kind":"Name","value":"figures"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"liveReservations"}},{"kind":"Field","name":{"kind":"Name","value":"overdue"}},{"kind":"Field","name":{"kind":"Name","value":"asOf"}}]}},{"kind":"Field","name":{"kind":"Name","value":"lockers"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"100"}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Door"}}]}},{"kind":"Field","name":{"kind":"Name","value":"nextCursor"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"overdueReservations"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"100"}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"lockerId"}},{"kind":"Field","name":{"kind":"Name","value":"owner"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Door"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Locker"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"lockerId"}},{"kind":"Field","name":{"kind":"Name","value":"alias"}},{"kind":"Field","name":{"kind":"Name","value":"size"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"version"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"overdueSince"}},{"kind":"Field","name":{"kind":"Name","value":"lockout"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"lockedUntil"}},{"kind":"Field","name":{"kind":"Name","value":"lockouts"}}]}},{"kind":"Field","name":{"kind":"Name","value":"activeReservation"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"reservationId"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"startAt"}},{"kind":"Field","name":{"kind":"Name","value":"endAt"}},{"kind":"Field","name":{"kind":"Name","value":"startedAt"}},{"kind":"Field","name":{"kind":"Name","value":"owner"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}}]}}]}}]}}]} as unknown as DocumentNode<BoardQuery, BoardQueryVariables>;
export const BoardLiveDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"subscription","name":{"kind":"Name","value":"BoardLive"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"locationActivity"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"locationId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"activityId"}},{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"occurredAt"}},{"kind":"Field","name":{"kind":"Name","value":"lockerId"}},{"kind":"Field","name":{"kind":"Name","value":"actor"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"role"}},{"kind":"Field","name":{"kind":"Name","value":"subject"}}]}},{"kind":"Field","name":{"kind":"Name","value":"locker"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Door"}},{"kind":"Field","name":{"kind":"Name","value":"locationId"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Door"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Locker"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"lockerId"}},{"kind":"Field","name":{"kind":"Name","value":"alias"}},{"kind":"Field","name":{"kind":"Name","value":"size"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"version"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"overdueSince"}},{"kind":"Field","name":{"kind":"Name","value":"lockout"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"lockedUntil"}},{"kind":"Field","name":{"kind":"Name","value":"lockouts"}}]}},{"kind":"Field","name":{"kind":"Name","value":"activeReservation"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"reservationId"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"startAt"}},{"kind":"Field","name":{"kind":"Name","value":"endAt"}},{"kind":"Field","name":{"kind":"Name","value":"startedAt"}},{"kind":"Field","name":{"kind":"Name","value":"owner"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}}]}}]}}]}}]} as unknown as DocumentNode<BoardLiveSubscription, BoardLiveSubscriptionVariables>;
export const LockerPageDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"LockerPage"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"lockerId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"today"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"DateTime"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"locker"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"lockerId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"lockerId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"LockerState"}},{"kind":"Field","name":{"kind":"Name","value":"owner"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"ownerId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}},{"kind":"Field","name":{"kind":"Name","value":"location"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}}]}},{"kind":"Field","name":{"kind":"Name","value":"lockout"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"lockedUntil"}},{"kind":"Field","name":{"kind":"Name","value":"lockouts"}}]}},{"kind":"Field","name":{"kind":"Name","value":"reservations"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"window"},"value":{"kind":"ObjectValue","fields":[{"kind":"ObjectField","name":{"kind":"Name","value":"from"},"value":{"kind":"Variable","name":{"kind":"Name","value":"today"}}}]}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"10"}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"reservationId"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"startAt"}},{"kind":"Field","name":{"kind":"Name","value":"endAt"}},{"kind":"Field","name":{"kind":"Name","value":"owner"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}}]}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"accessCodes"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"10"}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"codeId"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"uses"}},{"kind":"Field","name":{"kind":"Name","value":"maxUses"}},{"kind":"Field","name":{"kind":"Name","value":"validity"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"validUntil"}}]}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"activity"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"25"}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Entry"}}]}},{"kind":"Field","name":{"kind":"Name","value":"nextCursor"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"LockerState"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Locker"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"lockerId"}},{"kind":"Field","name":{"kind":"Name","value":"alias"}},{"kind":"Field","name":{"kind":"Name","value":"size"}},{"kind":"Field","name":{"kind":"Name","value":"features"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"version"}},{"kind":"Field","name":{"kind":"Name","value":"reservableBy"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"overdueSince"}},{"kind":"Field","name":{"kind":"Name","value":"locationId"}},{"kind":"Field","name":{"kind":"Name","value":"activeReservation"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"reservationId"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"startAt"}},{"kind":"Field","name":{"kind":"Name","value":"endAt"}},{"kind":"Field","name":{"kind":"Name","value":"owner"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Entry"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Activity"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"activityId"}},{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"occurredAt"}},{"kind":"Field","name":{"kind":"Name","value":"outcome"}},{"kind":"Field","name":{"kind":"Name","value":"reservationId"}},{"kind":"Field","name":{"kind":"Name","value":"codeId"}},{"kind":"Field","name":{"kind":"Name","value":"actor"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"role"}},{"kind":"Field","name":{"kind":"Name","value":"subject"}}]}},{"kind":"Field","name":{"kind":"Name","value":"changes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"field"}},{"kind":"Field","name":{"kind":"Name","value":"from"}},{"kind":"Field","name":{"kind":"Name","value":"to"}}]}}]}}]} as unknown as DocumentNode<LockerPageQuery, LockerPageQueryVariables>;
export const MoreActivityDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"MoreActivity"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"lockerId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"locker"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"lockerId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"lockerId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"activity"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"25"}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Entry"}}]}},{"kind":"Field","name":{"kind":"Name","value":"nextCursor"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Entry"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Activity"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"activityId"}},{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"occurredAt"}},{"kind":"Field","name":{"kind":"Name","value":"outcome"}},{"kind":"Field","name":{"kind":"Name","value":"reservationId"}},{"kind":"Field","name":{"kind":"Name","value":"codeId"}},{"kind":"Field","name":{"kind":"Name","value":"actor"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"role"}},{"kind":"Field","name":{"kind":"Name","value":"subject"}}]}},{"kind":"Field","name":{"kind":"Name","value":"changes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"field"}},{"kind":"Field","name":{"kind":"Name","value":"from"}},{"kind":"Field","name":{"kind":"Name","value":"to"}}]}}]}}]} as unknown as DocumentNode<MoreActivityQuery, MoreActivityQueryVariables>;
export const LockerLiveDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"subscription","name":{"kind":"Name","value":"LockerLive"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"lockerId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"lockerActivity"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"lockerId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"lockerId"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Entry"}},{"kind":"Field","name":{"kind":"Name","value":"locker"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"LockerState"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Entry"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Activity"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"activityId"}},{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"occurredAt"}},{"kind":"Field","name":{"kind":"Name","value":"outcome"}},{"kind":"Field","name":{"kind":"Name","value":"reservationId"}},{"kind":"Field","name":{"kind":"Name","value":"codeId"}},{"kind":"Field","name":{"kind":"Name","value":"actor"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"role"}},{"kind":"Field","name":{"kind":"Name","value":"subject"}}]}},{"kind":"Field","name":{"kind":"Name","value":"changes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"field"}},{"kind":"Field","name":{"kind":"Name","value":"from"}},{"kind":"Field","name":{"kind":"Name","value":"to"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"LockerState"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Locker"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"lockerId"}},{"kind":"Field","name":{"kind":"Name","value":"alias"}},{"kind":"Field","name":{"kind":"Name","value":"size"}},{"kind":"Field","name":{"kind":"Name","value":"features"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"version"}},{"kind":"Field","name":{"kind":"Name","value":"reservableBy"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"overdueSince"}},{"kind":"Field","name":{"kind":"Name","value":"locationId"}},{"kind":"Field","name":{"kind":"Name","value":"activeReservation"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"reservationId"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"startAt"}},{"kind":"Field","name":{"kind":"Name","value":"endAt"}},{"kind":"Field","name":{"kind":"Name","value":"owner"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}}]}}]}}]}}]} as unknown as DocumentNode<LockerLiveSubscription, LockerLiveSubscriptionVariables>;
export const ChangeStatusDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"ChangeStatus"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UpdateLockerStatusInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"updateLockerStatus"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"locker"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"LockerState"}}]}},{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"code"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"LockerState"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Locker"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"lockerId"}},{"kind":"Field","name":{"kind":"Name","value":"alias"}},{"kind":"Field","name":{"kind":"Name","value":"size"}},{"kind":"Field","name":{"kind":"Name","value":"features"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"version"}},{"kind":"Field","name":{"kind":"Name","value":"reservableBy"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"overdueSince"}},{"kind":"Field","name":{"kind":"Name","value":"locationId"}},{"kind":"Field","name":{"kind":"Name","value":"activeReservation"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"reservationId"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"startAt"}},{"kind":"Field","name":{"kind":"Name","value":"endAt"}},{"kind":"Field","name":{"kind":"Name","value":"owner"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}}]}}]}}]}}]} as unknown as DocumentNode<ChangeStatusMutation, ChangeStatusMutationVariables>;
export const ClearLockoutDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"ClearLockout"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ClearLockoutInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"clearLockout"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"userErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<ClearLockoutMutation, ClearLockoutMutationVariables>;
export const OverdueDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Overdue"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"overdueReservations"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"50"}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"lockerId"}},{"kind":"Field","name":{"kind":"Name","value":"reservationId"}},{"kind":"Field","name":{"kind":"Name","value":"overdueSince"}},{"kind":"Field","name":{"kind":"Name","value":"owner"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}}]}},{"kind":"Field","name":{"kind":"Name","value":"locker"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"alias"}},{"kind":"Field","name":{"kind":"Name","value":"location"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"locationId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"nextCursor"}}]}}]}}]} as unknown as DocumentNode<OverdueQuery, OverdueQueryVariables>;
export const OverdueLiveDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"subscription","name":{"kind":"Name","value":"OverdueLive"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"activity"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}},{"kind":"Argument","name":{"kind":"Name","value":"kinds"},"value":{"kind":"ListValue","values":[{"kind":"EnumValue","value":"RESERVATION_OVERDUE"},{"kind":"EnumValue","value":"RESERVATION_RELEASED"},{"kind":"EnumValue","value":"RESERVATION_CHANGED"},{"kind":"EnumValue","value":"LOCKER_STATUS_CHANGED"},{"kind":"EnumValue","value":"LOCKER_RETIRED"}]}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"activityId"}},{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"lockerId"}}]}}]}}]} as unknown as DocumentNode<OverdueLiveSubscription, OverdueLiveSubscriptionVariables>;
export const OverviewDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Overview"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"viewer"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"ownerId"}}]}},{"kind":"Field","name":{"kind":"Name","value":"locationFigures"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"500"}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"locationId"}},{"kind":"Field","name":{"kind":"Name","value":"lockers"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"count"}}]}},{"kind":"Field","name":{"kind":"Name","value":"liveReservations"}},{"kind":"Field","name":{"kind":"Name","value":"overdue"}},{"kind":"Field","name":{"kind":"Name","value":"asOf"}},{"kind":"Field","name":{"kind":"Name","value":"location"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"address"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"city"}},{"kind":"Field","name":{"kind":"Name","value":"country"}},{"kind":"Field","name":{"kind":"Name","value":"lat"}},{"kind":"Field","name":{"kind":"Name","value":"lng"}}]}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"nextCursor"}}]}}]}}]} as unknown as DocumentNode<OverviewQuery, OverviewQueryVariables>;
export const OverviewLiveDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"subscription","name":{"kind":"Name","value":"OverviewLive"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"activity"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}},{"kind":"Argument","name":{"kind":"Name","value":"kinds"},"value":{"kind":"ListValue","values":[{"kind":"EnumValue","value":"LOCKER_STATUS_CHANGED"}]}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"activityId"}},{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"occurredAt"}},{"kind":"Field","name":{"kind":"Name","value":"locationId"}},{"kind":"Field","name":{"kind":"Name","value":"changes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"field"}},{"kind":"Field","name":{"kind":"Name","value":"from"}},{"kind":"Field","name":{"kind":"Name","value":"to"}}]}}]}}]}}]} as unknown as DocumentNode<OverviewLiveSubscription, OverviewLiveSubscriptionVariables>;
export const OwnerPageDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"OwnerPage"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"ownerId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"today"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"DateTime"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"owner"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"ownerId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"ownerId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"email"}},{"kind":"Field","name":{"kind":"Name","value":"phone"}},{"kind":"Field","name":{"kind":"Name","value":"figures"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"liveReservations"}},{"kind":"Field","name":{"kind":"Name","value":"overdue"}},{"kind":"Field","name":{"kind":"Name","value":"asOf"}}]}},{"kind":"Field","name":{"kind":"Name","value":"lockers"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"100"}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"lockerId"}},{"kind":"Field","name":{"kind":"Name","value":"alias"}},{"kind":"Field","name":{"kind":"Name","value":"size"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"overdueSince"}},{"kind":"Field","name":{"kind":"Name","value":"location"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"locationId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"nextCursor"}}]}},{"kind":"Field","name":{"kind":"Name","value":"reservations"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"window"},"value":{"kind":"ObjectValue","fields":[{"kind":"ObjectField","name":{"kind":"Name","value":"from"},"value":{"kind":"Variable","name":{"kind":"Name","value":"today"}}}]}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"25"}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"reservationId"}},{"kind":"Field","name":{"kind":"Name","value":"lockerId"}},{"kind":"Field","name":{"kind":"Name","value":"startAt"}},{"kind":"Field","name":{"kind":"Name","value":"endAt"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"reference"}}]}}]}}]}}]}}]} as unknown as DocumentNode<OwnerPageQuery, OwnerPageQueryVariables>;
export const OwnerLiveDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"subscription","name":{"kind":"Name","value":"OwnerLive"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"ownerId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"ownerActivity"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"ownerId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"ownerId"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"activityId"}},{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}}]}}]}}]} as unknown as DocumentNode<OwnerLiveSubscription, OwnerLiveSubscriptionVariables>;
export const SearchDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Search"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"text"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"search"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"text"},"value":{"kind":"Variable","name":{"kind":"Name","value":"text"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"25"}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"matchedBy"}},{"kind":"Field","name":{"kind":"Name","value":"node"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Owner"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"ownerId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","alias":{"kind":"Name","value":"ownerKind"},"name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"email"}},{"kind":"Field","name":{"kind":"Name","value":"phone"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Locker"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"lockerId"}},{"kind":"Field","name":{"kind":"Name","value":"alias"}},{"kind":"Field","alias":{"kind":"Name","value":"lockerStatus"},"name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"location"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}}]}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Location"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"locationId"}},{"kind":"Field","alias":{"kind":"Name","value":"place"},"name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"address"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"city"}}]}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Reservation"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"reservationId"}},{"kind":"Field","alias":{"kind":"Name","value":"reservedLocker"},"name":{"kind":"Name","value":"lockerId"}},{"kind":"Field","name":{"kind":"Name","value":"reference"}},{"kind":"Field","name":{"kind":"Name","value":"startAt"}},{"kind":"Field","name":{"kind":"Name","value":"endAt"}},{"kind":"Field","alias":{"kind":"Name","value":"reservationStatus"},"name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"owner"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}}]}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Booking"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"bookingId"}},{"kind":"Field","alias":{"kind":"Name","value":"bookedLocation"},"name":{"kind":"Name","value":"locationId"}},{"kind":"Field","name":{"kind":"Name","value":"date"}},{"kind":"Field","alias":{"kind":"Name","value":"bookingStatus"},"name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"owner"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}}]}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Webhook"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"webhookId"}},{"kind":"Field","name":{"kind":"Name","value":"url"}},{"kind":"Field","alias":{"kind":"Name","value":"webhookStatus"},"name":{"kind":"Name","value":"status"}}]}}]}}]}}]}}]} as unknown as DocumentNode<SearchQuery, SearchQueryVariables>;
export const UsageDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Usage"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"from"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Date"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"to"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Date"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"location"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"locationId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"usage"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"window"},"value":{"kind":"ObjectValue","fields":[{"kind":"ObjectField","name":{"kind":"Name","value":"from"},"value":{"kind":"Variable","name":{"kind":"Name","value":"from"}}},{"kind":"ObjectField","name":{"kind":"Name","value":"to"},"value":{"kind":"Variable","name":{"kind":"Name","value":"to"}}}]}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"date"}},{"kind":"Field","name":{"kind":"Name","value":"reservations"}},{"kind":"Field","name":{"kind":"Name","value":"checkIns"}},{"kind":"Field","name":{"kind":"Name","value":"opens"}},{"kind":"Field","name":{"kind":"Name","value":"denials"}},{"kind":"Field","name":{"kind":"Name","value":"noShows"}}]}}]}}]}}]} as unknown as DocumentNode<UsageQuery, UsageQueryVariables>;
export const UsageLiveDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"subscription","name":{"kind":"Name","value":"UsageLive"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"locationActivity"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"locationId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"locationId"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"activityId"}},{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}}]}}]}}]} as unknown as DocumentNode<UsageLiveSubscription, UsageLiveSubscriptionVariables>;
export const ViewerDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Viewer"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"viewer"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"role"}},{"kind":"Field","name":{"kind":"Name","value":"ownerId"}}]}}]}}]} as unknown as DocumentNode<ViewerQuery, ViewerQueryVariables>;