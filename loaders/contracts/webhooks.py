"""The access patterns of webhooks: endpoints, deliveries, and what the process that follows the log is asked to do."""

from dataclasses import replace

from domain.activity import ActivityKind
from domain.errors import (
    BadInputError,
    ForbiddenError,
    IdTakenError,
    NotFoundError,
    OwnerErasedError,
    TooManyWebhooksError,
    VersionConflictError,
)
from loaders import keys
from loaders.codecs import (
    DELIVERY,
    LOCATION,
    LOG_LEASE,
    NOTIFICATION,
    OWNER,
    WEBHOOK,
    WEBHOOK_COUNT,
    WEBHOOK_REVISION,
    WEBHOOK_TASK,
)
from loaders.contracts.base import Consistency, Order
from loaders.contracts.owners import IS_OWNER
from loaders.contracts.reading import ReadOne, ReadPage, ReadTail
from loaders.contracts.write_parts import EXISTS, IS_NEW, REPEATED_CHANGE, ItemRead, check, delete, put, update
from loaders.contracts.writing import WriteContract

_SILENT = "The webhook itself shows its deliveries."
_REVISION = put("revision", WEBHOOK_REVISION, None)
_TASK = put("task", WEBHOOK_TASK, IS_NEW, most=keys.LOG_SHARDS)

WEBHOOK_BY_ID = ReadOne(
    id="QC-180",
    purpose="A webhook by its id",
    codec=WEBHOOK,
    errors=(NotFoundError, BadInputError, ForbiddenError),
    cardinality="One item a webhook.",
    hot_partition="Low: all webhooks are one partition, which is read when they change.",
)

WEBHOOKS = ReadPage(
    id="QC-181",
    purpose="All webhooks",
    range=keys.webhooks,
    codec=WEBHOOK,
    note="By webhookId.",
    cardinality="Up to some 1,000.",
    hot_partition="Low: read by admins.",
)

OWNER_WEBHOOKS = ReadPage(
    id="QC-182",
    purpose="Webhooks of an owner",
    range=keys.owner_webhooks,
    codec=WEBHOOK,
    note="Oldest first.",
    cardinality="At most 10 an owner.",
    hot_partition="Low: one owner's webhooks.",
)

CREATE_WEBHOOK = WriteContract(
    id="QC-183",
    purpose="Create a webhook",
    steps=(
        put("webhook", WEBHOOK, IS_NEW, index_writes=1),
        _REVISION,
        update(
            "count",
            WEBHOOK_COUNT,
            "attribute_not_exists(#webhooks) OR #webhooks < :most",
            when="it is for an owner",
        ),
        check("owner", OWNER, IS_OWNER, when="it is for an owner"),
        check("location", LOCATION, EXISTS, when="it is for a location"),
    ),
    most_steps=4,
    emits=(ActivityKind.WEBHOOK_CREATED,),
    errors=(BadInputError, NotFoundError, ForbiddenError, OwnerErasedError, IdTakenError, TooManyWebhooksError),
    note="The secret is not stored: it is derived from a key of the ring and a random id. The same id with the same "
    "content returns the first webhook, without its secret.",
    cardinality="The webhook, the owner's counter, and the revision of the list.",
    hot_partition="All webhooks are one partition, which takes about 1,000 writes a second.",
)

CHANGE_WEBHOOK = WriteContract(
    id="QC-184",
    purpose="Change, enable, disable or delete a webhook",
    variants=("change", "enable", "disable", "delete"),
    reads=(
        ItemRead("webhook", WEBHOOK),
        ItemRead("lease", LOG_LEASE, at_once=keys.LOG_SHARDS, only=("disable",)),
        ItemRead("task", WEBHOOK_TASK, at_once=keys.LOG_SHARDS, only=("enable",)),
    ),
    rounds=3,
    steps=(
        update("webhook", WEBHOOK, "#version = :expectedVersion", index_writes=1),
        _REVISION,
        update("count", WEBHOOK_COUNT, "#webhooks > :none", when="it is deleted, and was for an owner"),
        replace(_TASK, when="it is enabled"),
        put("notification", NOTIFICATION, None, when="it is disabled because deliveries failed"),
    ),
    most_steps=2 + keys.LOG_SHARDS,
    emits=(
        ActivityKind.WEBHOOK_CHANGED,
        ActivityKind.WEBHOOK_ENABLED,
        ActivityKind.WEBHOOK_DISABLED,
        ActivityKind.WEBHOOK_DELETED,
    ),
    errors=(BadInputError, NotFoundError, ForbiddenError, IdTakenError, VersionConflictError),
    note=f"{REPEATED_CHANGE} One that is disabled stores up to when it was told everything; enabling it asks those who "
    "follow the log to go on from there. One that is deleted expires after its deliveries.",
    cardinality="The webhook, the revision of the list, and a task for each part of the log or the owner's counter.",
    hot_partition="All webhooks are one partition, which takes about 1,000 writes a second.",
)

REQUEST_DELIVERIES = WriteContract(
    id="QC-185",
    purpose="Ask for a test, a redelivery or a replay",
    variants=("test", "redeliver", "replay"),
    reads=(ItemRead("webhook", WEBHOOK), ItemRead("delivery", DELIVERY, only=("redeliver",))),
    steps=(
        check("webhook", WEBHOOK, f"{EXISTS} AND #status <> :deleted"),
        replace(_TASK, when="a test or a redelivery is asked for"),
        put(
            "replay",
            WEBHOOK_TASK,
            "attribute_not_exists(#PK) OR #requestId <> :requestId",
            when="a replay is asked for",
            most=keys.LOG_SHARDS,
        ),
    ),
    most_steps=1 + keys.LOG_SHARDS,
    silent=_SILENT,
    errors=(BadInputError, NotFoundError, ForbiddenError),
    note="The process that follows a part of the log looks for tasks every five seconds. What was asked for and is not "
    "done yet is not asked for again; a replay replaces another that has not ended.",
    cardinality="A task; for a replay, one for each of the four parts of the log.",
    hot_partition="The tasks of a part of the log are one partition, which is empty as a rule.",
)

WEBHOOK_DELIVERIES = ReadPage(
    id="QC-186",
    purpose="Deliveries of a webhook",
    range=keys.deliveries,
    codec=DELIVERY,
    orders=(Order.DESC,),
    note="Newest activity first.",
    cardinality="One item for each activity that it is told of, for as long as the log is kept.",
    hot_partition="Medium: a webhook for everything has a delivery for each change, in one partition.",
)

DELIVERY_BY_KEY = ReadOne(
    id="QC-187",
    purpose="A delivery by its webhook, time and activity",
    codec=DELIVERY,
    consistency=Consistency.STRONG,
    note="Who sends deliveries reads one before it is sent again.",
    cardinality="One item a delivery.",
    hot_partition="As the deliveries of its webhook.",
)

WEBHOOK_LIST = ReadTail(
    id="QC-188",
    purpose="All webhooks, for those who follow the log",
    codec=WEBHOOK,
    range=keys.webhooks,
    most=1000,
    note="Strongly consistent, when the revision of the list has changed.",
    cardinality="Up to some 1,000.",
    hot_partition="Read by each process that follows the log, when a webhook has changed.",
)

LIST_REVISION = ReadOne(
    id="QC-189",
    purpose="Whether a webhook has changed",
    codec=WEBHOOK_REVISION,
    consistency=Consistency.STRONG,
    note="Read whenever something was logged, before it is decided who is told: a webhook that was created before an "
    "activity is told of it. Otherwise every five seconds.",
    cardinality="One item.",
    hot_partition="Read up to four times a second by those who follow the log.",
)

WEBHOOK_TASKS = ReadTail(
    id="QC-190",
    purpose="What is asked of the process that follows a part of the log",
    codec=WEBHOOK_TASK,
    range=keys.webhook_tasks,
    most=1000,
    note="Every five seconds; strongly consistent when a webhook has changed.",
    cardinality="None as a rule; one for each webhook that is behind, tested or replayed.",
    hot_partition="Read every five seconds by the process that follows the part.",
)

WAITING_DELIVERIES = ReadTail(
    id="QC-191",
    purpose="The deliveries of a part of the log that wait",
    codec=DELIVERY,
    range=keys.waiting_deliveries,
    most=1000,
    note="Read by a process that begins to follow a part; then it knows what waits, as it alone changes it. Read again "
    "once a minute, as the index may have lacked what was written a moment before.",
    cardinality="Those that failed and are tried again, at most 1,000 a webhook.",
    hot_partition="In the index, the deliveries of a part share one partition: about 500 a second.",
)

KEEP_DELIVERY = WriteContract(
    id="QC-192",
    purpose="Write a delivery, and the result of each attempt",
    operation="PutItem",
    steps=(
        put("new delivery", DELIVERY, IS_NEW, when="a webhook is told of an activity", index_writes=1),
        put(
            "delivery again",
            DELIVERY,
            "attribute_not_exists(#PK) OR #requestId <> :requestId",
            when="it is asked for again",
            index_writes=1,
        ),
        put(
            "result", DELIVERY, "#requestId = :requestId AND #attempts = :attempts", when="it was sent", index_writes=1
        ),
    ),
    most_steps=1,
    silent=_SILENT,
    note="A delivery that succeeds at once is written twice; each attempt that fails is one more write. Who is told of "
    "an activity again, by whichever process, finds its delivery there.",
    cardinality="One item for each webhook and activity.",
    hot_partition="In the index, the deliveries of a part of the log share one partition: about 500 a second.",
)

KEEP_TASK = WriteContract(
    id="QC-193",
    purpose="Write that a webhook is behind, or how far a task has got",
    operation="PutItem",
    steps=(
        put("new task", WEBHOOK_TASK, IS_NEW, when="as many deliveries wait as may"),
        put("progress", WEBHOOK_TASK, "#requestId = :requestId AND #number <= :number", when="some of it is done"),
    ),
    most_steps=1,
    silent=_SILENT,
    cardinality="One task.",
    hot_partition="Low: the tasks of a part of the log.",
)

END_TASK = WriteContract(
    id="QC-194",
    purpose="Delete a task that is done",
    steps=(delete("task", WEBHOOK_TASK, "#requestId = :requestId AND #number <= :number"),),
    most_steps=1,
    silent=_SILENT,
    cardinality="One task.",
    hot_partition="Low: the tasks of a part of the log.",
)

MARK_WEBHOOK = WriteContract(
    id="QC-195",
    purpose="Write since when deliveries to a webhook fail, or that one has succeeded",
    steps=(
        update(
            "failing",
            WEBHOOK,
            f"{EXISTS} AND attribute_not_exists(#failingSince)",
            when="a delivery failed",
            index_writes=1,
        ),
        update("works", WEBHOOK, "attribute_exists(#failingSince)", when="a delivery succeeded", index_writes=1),
    ),
    most_steps=1,
    silent="It is no change of the webhook; one that is disabled for it is logged.",
    note="After each failure, which finds the time of the first. After a success, by each process, if it has seen a "
    "failure or has not looked for ten minutes.",
    cardinality="The webhook.",
    hot_partition="All webhooks are one partition, which takes about 1,000 writes a second.",
)
