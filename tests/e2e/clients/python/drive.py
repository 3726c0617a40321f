"""Calls each method of the Python client `qstash` against a server, first of the synchronous client, then of the asynchronous.

Environment: QSTASH_URL, QSTASH_TOKEN, DESTINATION (a URL to which a path can be added; /broken answers 404).
Prints one line of JSON for each method: {"method": "queue.get", "error": null or a text}. A method that the client has and
that no journey calls has the error "not called".
"""

import asyncio
import contextlib
import inspect
import json
import os
import sys
import time

from qstash import AsyncQStash, QStash

DESTINATION = os.environ["DESTINATION"]
PATIENCE_S = 60
FAR_CRON = "0 0 1 1 *"


class Refused(Exception):
    """The method that was called last did not do what it should; the rest of its journey cannot go on."""


class Driver:
    def __init__(self, client, name):
        self.client = client
        self.name = name
        self.errors = {
            f"{api}.{method}": "not called"
            for api, methods in vars(client).items()
            if api != "http"
            for method, _ in inspect.getmembers(methods, callable)
            if not method.startswith("_")
        }

    async def call(self, method, *args, **options):
        """What the method returns; an exception of the client is its error."""
        api, name = method.split(".")
        try:
            result = getattr(getattr(self.client, api), name)(*args, **options)
            if inspect.isawaitable(result):
                result = await result
        except Exception as error:
            self.errors[method] = f"{type(error).__name__}: {error}"
            raise Refused from error
        self.errors[method] = None
        return result

    def expect(self, method, is_so, found):
        if not is_so:
            self.errors[method] = f"returned {found!r}"
            raise Refused

    async def eventually(self, method, is_so, *args, **options):
        until = time.monotonic() + PATIENCE_S
        while True:
            found = await self.call(method, *args, **options)
            if is_so(found):
                return found
            if time.monotonic() > until:
                self.expect(method, False, found)
            await asyncio.sleep(0.1)

    def url(self, path):
        return f"{DESTINATION}/{self.name}{path}"


async def messages(on):
    published = await on.call(
        "message.publish",
        url=on.url("/publish"),
        body="a text",
        content_type="text/plain",
        headers={"My-Header": "mine"},
        retries=2,
        timeout="30s",
        label="a-label",
        deduplication_id=f"{on.name}-once",
    )
    on.expect("message.publish", published.message_id.startswith("msg_"), published)
    again = await on.call("message.publish", url=on.url("/publish"), deduplication_id=f"{on.name}-once")
    on.expect("message.publish", (again.message_id, again.deduplicated) == (published.message_id, True), again)
    await on.call("message.publish_json", url=on.url("/publish-json"), body={"n": 1}, callback=on.url("/callback"))

    later = await on.call("message.publish", url=on.url("/never"), body="later", delay="1h", retries=5)
    found = await on.call("message.get", later.message_id)
    on.expect("message.get", (found.url, found.body, found.max_retries) == (on.url("/never"), "later", 5), found)
    await on.call("message.cancel", later.message_id)


async def batches(on):
    answers = await on.call("message.batch_json", [{"url": on.url("/batch-json"), "body": {"n": n}} for n in range(3)])
    on.expect("message.batch_json", len({answer.message_id for answer in answers}) == 3, answers)
    answers = await on.call(
        "message.batch",
        [
            {"url": on.url("/batch"), "body": "one", "content_type": "text/plain"},
            {"queue": f"{on.name}-batch", "url": on.url("/batch-queued"), "body": "two"},
        ],
    )
    on.expect("message.batch", len(answers) == 2, answers)


async def canceling(on):
    ids = [(await on.call("message.publish", url=on.url("/never"), delay="1h")).message_id for _ in range(3)]
    cancelled = await on.call("message.cancel_many", ids[:2])
    on.expect("message.cancel_many", cancelled == 2, cancelled)
    cancelled = await on.call("message.cancel_all")
    on.expect("message.cancel_all", cancelled >= 1, cancelled)


async def queues(on):
    queue = f"{on.name}-queue"
    await on.call("queue.upsert", queue, parallelism=2)
    found = await on.call("queue.get", queue)
    on.expect("queue.get", (found.name, found.parallelism, found.paused, found.lag) == (queue, 2, False, 0), found)
    await on.call("queue.pause", queue)
    enqueued = await on.call("message.enqueue", queue=queue, url=on.url("/enqueue"), body="first")
    on.expect("message.enqueue", enqueued.message_id.startswith("msg_"), enqueued)
    await on.call("message.enqueue_json", queue=queue, url=on.url("/enqueue-json"), body={"n": 2})
    found = await on.call("queue.get", queue)
    on.expect("queue.get", (found.paused, found.lag) == (True, 2), found)
    every = await on.call("queue.list")
    on.expect("queue.list", queue in [each.name for each in every], every)
    await on.call("queue.resume", queue)
    await on.eventually("queue.get", lambda queue: queue.lag == 0, queue)
    await on.call("queue.delete", queue)


async def schedules(on):
    created = await on.call("schedule.create", destination=on.url("/cron"), cron=FAR_CRON, body="tick", retries=1)
    named = await on.call(
        "schedule.create_json", destination=on.url("/cron"), cron=FAR_CRON, body={"n": 1}, schedule_id=f"{on.name}-daily"
    )
    on.expect("schedule.create_json", named == f"{on.name}-daily", named)
    found = await on.call("schedule.get", created)
    on.expect("schedule.get", (found.cron, found.destination) == (FAR_CRON, on.url("/cron")), found)
    every = await on.call("schedule.list")
    on.expect("schedule.list", {created, named} <= {each.schedule_id for each in every}, every)
    await on.call("schedule.pause", created)
    on.expect("schedule.pause", (await on.call("schedule.get", created)).paused is True, "not paused")
    await on.call("schedule.resume", created)
    on.expect("schedule.resume", (await on.call("schedule.get", created)).paused is False, "paused")
    await on.call("schedule.delete", created)
    await on.call("schedule.delete", named)


async def groups(on):
    group = f"{on.name}-group"
    endpoints = [{"name": "one", "url": on.url("/group-1")}, {"url": on.url("/group-2")}]
    await on.call("url_group.upsert_endpoints", group, endpoints)
    found = await on.call("url_group.get", group)
    on.expect("url_group.get", [each.url for each in found.endpoints] == [each["url"] for each in endpoints], found)
    every = await on.call("url_group.list")
    on.expect("url_group.list", group in [each.name for each in every], every)
    published = await on.call("message.publish", url_group=group, body="to both")
    on.expect("message.publish", len(published) == 2, published)
    await on.call("url_group.remove_endpoints", group, [{"name": "one"}])
    on.expect("url_group.remove_endpoints", len((await on.call("url_group.get", group)).endpoints) == 1, "both")
    await on.call("url_group.delete", group)


async def dead_letters(on):
    ids = [(await on.call("message.publish", url=on.url("/broken"), retries=0)).message_id for _ in range(3)]
    letters = [
        (
            await on.eventually("dlq.list", lambda page: len(page.messages) == 1, filter={"message_id": message_id}, count=10)
        ).messages[0]
        for message_id in ids
    ]
    found = await on.call("dlq.get", letters[0].dlq_id)
    on.expect("dlq.get", (found.message_id, found.response_status) == (ids[0], 404), found)
    await on.call("dlq.delete", letters[0].dlq_id)
    deleted = await on.call("dlq.delete_many", [letter.dlq_id for letter in letters[1:]])
    on.expect("dlq.delete_many", deleted == 2, deleted)


async def logs(on):
    message = await on.call("message.publish", url=on.url("/logged"), body="x", label="logged")
    wanted = {"message_id": message.message_id, "url": on.url("/logged"), "label": "logged"}
    await on.eventually("log.list", lambda page: "DELIVERED" in [each.state.value for each in page.logs], filter=wanted, count=10)


async def flow_control(on):
    key = f"{on.name}-flow"
    control = {"key": key, "parallelism": 3, "rate": 10, "period": "1m"}
    await on.call("message.publish", url=on.url("/flow"), body="x", flow_control=control)
    found = await on.call("flow_control.get", key)
    on.expect("flow_control.get", (found.parallelism_max, found.rate_max, found.rate_period) == (3, 10, 60), found)
    await on.call("flow_control.pause", key)
    on.expect("flow_control.pause", (await on.call("flow_control.get", key)).is_paused, "not paused")
    await on.call("flow_control.resume", key)
    on.expect("flow_control.resume", not (await on.call("flow_control.get", key)).is_paused, "paused")
    await on.call("flow_control.pin", key, {"parallelism": 5, "rate": 20, "period": 30})
    found = await on.call("flow_control.get", key)
    on.expect("flow_control.pin", (found.parallelism_max, found.is_pinned_parallelism) == (5, True), found)
    await on.call("flow_control.unpin", key, {"parallelism": True, "rate": True})
    on.expect("flow_control.unpin", not (await on.call("flow_control.get", key)).is_pinned_rate, "pinned")
    await on.call("flow_control.reset_rate", key)
    on.expect("flow_control.reset_rate", (await on.call("flow_control.get", key)).rate_count == 0, "counted")
    found = await on.call("flow_control.get_global_parallelism")
    on.expect("flow_control.get_global_parallelism", found.parallelism_max > 0, found)


async def keys(on):
    before = await on.call("signing_key.get")
    after = await on.call("signing_key.rotate")
    on.expect("signing_key.rotate", (after.current, after.next != before.next) == (before.next, True), after)


async def drive(client, name):
    on = Driver(client, name)
    for journey in (messages, batches, queues, schedules, groups, dead_letters, logs, flow_control, canceling, keys):
        # The client itself prints to standard output.
        with contextlib.suppress(Refused), contextlib.redirect_stdout(sys.stderr):
            await journey(on)
    for method, error in sorted(on.errors.items()):
        print(json.dumps({"method": f"{name}: {method}", "error": error}), flush=True)


async def both():
    await drive(QStash(os.environ["QSTASH_TOKEN"], retry=False), "sync")
    await drive(AsyncQStash(os.environ["QSTASH_TOKEN"], retry=False), "async")


asyncio.run(both())
