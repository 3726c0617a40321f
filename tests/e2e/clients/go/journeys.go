package main

import (
	"slices"

	"github.com/upstash/qstash-go"
)

func messages(on *driver) {
	options := qstash.PublishOptions{
		Url: url("/publish"), Body: "a text", ContentType: "text/plain", Headers: map[string]string{"My-Header": "mine"},
		Retries: qstash.RetryCount(2), Timeout: "30s", DeduplicationId: "go-once",
	}
	published, err := on.client.Publish(options)
	on.is("Client.Publish", err, published.MessageId != "", published)
	again, err := on.client.Publish(options)
	on.is("Client.Publish", err, again.Deduplicated && again.MessageId == published.MessageId, again)
	published, err = on.client.PublishJSON(qstash.PublishJSONOptions{
		Url: url("/publish-json"), Body: map[string]any{"n": 1}, Callback: url("/callback"),
	})
	on.is("Client.PublishJSON", err, published.MessageId != "", published)

	later, err := on.client.Publish(qstash.PublishOptions{Url: url("/never"), Body: "later", Delay: "1h", Retries: qstash.RetryCount(5)})
	on.is("Client.Publish", err, later.MessageId != "", later)
	found, err := on.client.Messages().Get(later.MessageId)
	on.is("Messages.Get", err, found.Url == url("/never") && found.Body == "later" && found.MaxRetries == 5, found)
	on.is("Messages.Cancel", on.client.Messages().Cancel(later.MessageId), true, nil)
}

func batches(on *driver) {
	answers, err := on.client.BatchJSON([]qstash.BatchJSONOptions{
		{Url: url("/batch-json"), Body: map[string]any{"n": 1}}, {Url: url("/batch-json"), Body: map[string]any{"n": 2}},
	})
	on.is("Client.BatchJSON", err, len(answers) == 2 && answers[0][0].MessageId != answers[1][0].MessageId, answers)
	answers, err = on.client.Batch([]qstash.BatchOptions{
		{Url: url("/batch"), Body: "one", ContentType: "text/plain"},
		{Url: url("/batch-queued"), Queue: "go-batch", Body: "two"},
	})
	on.is("Client.Batch", err, len(answers) == 2 && answers[1][0].MessageId != "", answers)
}

func queues(on *driver) {
	api := on.client.Queues()
	on.is("Queues.Upsert", api.Upsert(qstash.Queue{Name: "go-queue", Parallelism: 2}), true, nil)
	found, err := api.Get("go-queue")
	on.is("Queues.Get", err, found.Name == "go-queue" && found.Parallelism == 2 && !found.IsPaused && found.Lag == 0, found)
	on.is("Queues.Pause", api.Pause("go-queue"), true, nil)
	enqueued, err := on.client.Enqueue(qstash.EnqueueOptions{
		Queue: "go-queue", PublishOptions: qstash.PublishOptions{Url: url("/enqueue"), Body: "first"},
	})
	on.is("Client.Enqueue", err, enqueued.MessageId != "", enqueued)
	enqueued, err = on.client.EnqueueJSON(qstash.EnqueueJSONOptions{
		Queue: "go-queue", PublishJSONOptions: qstash.PublishJSONOptions{Url: url("/enqueue-json"), Body: map[string]any{"n": 2}},
	})
	on.is("Client.EnqueueJSON", err, enqueued.MessageId != "", enqueued)
	found, err = api.Get("go-queue")
	on.is("Queues.Get", err, found.IsPaused && found.Lag == 2, found)
	every, err := api.List()
	on.is("Queues.List", err, slices.ContainsFunc(every, func(queue qstash.QueueWithLag) bool { return queue.Name == "go-queue" }), every)
	on.is("Queues.Resume", api.Resume("go-queue"), true, nil)
	on.eventually("Queues.Get", func() (bool, any, error) {
		found, err := api.Get("go-queue")
		return found.Lag == 0, found, err
	})
	on.is("Queues.Delete", api.Delete("go-queue"), true, nil)
}

func schedules(on *driver) {
	api := on.client.Schedules()
	created, err := api.Create(qstash.ScheduleOptions{Destination: url("/cron"), Cron: farCron, Body: "tick", Retries: qstash.RetryCount(1)})
	on.is("Schedules.Create", err, created != "", created)
	other, err := api.CreateJSON(qstash.ScheduleJSONOptions{Destination: url("/cron"), Cron: farCron, Body: map[string]any{"n": 1}})
	on.is("Schedules.CreateJSON", err, other != "" && other != created, other)
	found, err := api.Get(created)
	on.is("Schedules.Get", err, found.Cron == farCron && found.Destination == url("/cron") && found.Retries == 1, found)
	every, err := api.List()
	on.is("Schedules.List", err, len(every) >= 2, every)
	on.is("Schedules.Pause", api.Pause(created), true, nil)
	found, err = api.Get(created)
	on.is("Schedules.Pause", err, found.IsPaused, found)
	on.is("Schedules.Resume", api.Resume(created), true, nil)
	found, err = api.Get(created)
	on.is("Schedules.Resume", err, !found.IsPaused, found)
	on.is("Schedules.Delete", api.Delete(created), true, nil)
	on.is("Schedules.Delete", api.Delete(other), true, nil)
}

func groups(on *driver) {
	api := on.client.UrlGroups()
	endpoints := []qstash.Endpoint{{Url: url("/group-1"), Name: "one"}, {Url: url("/group-2")}}
	on.is("UrlGroups.UpsertEndpoints", api.UpsertEndpoints("go-group", endpoints), true, nil)
	found, err := api.Get("go-group")
	on.is("UrlGroups.Get", err, slices.Equal(found.Endpoints, endpoints), found)
	every, err := api.List()
	on.is("UrlGroups.List", err, slices.ContainsFunc(every, func(group qstash.UrlGroup) bool { return group.Name == "go-group" }), every)
	published, err := api.Publish(qstash.PublishUrlGroupOptions{UrlGroup: "go-group", Body: "to both"})
	on.is("UrlGroups.Publish", err, len(published) == 2 && published[0].Url == url("/group-1"), published)
	published, err = api.PublishJSON(qstash.PublishUrlGroupJSONOptions{UrlGroup: "go-group", Body: map[string]any{"n": 1}})
	on.is("UrlGroups.PublishJSON", err, len(published) == 2, published)
	on.run(groupsInQueues)
	on.is("UrlGroups.RemoveEndpoints", api.RemoveEndpoints("go-group", []qstash.Endpoint{{Name: "one"}}), true, nil)
	found, err = api.Get("go-group")
	on.is("UrlGroups.RemoveEndpoints", err, len(found.Endpoints) == 1, found)
	on.is("UrlGroups.Delete", api.Delete("go-group"), true, nil)
}

func groupsInQueues(on *driver) {
	api := on.client.UrlGroups()
	enqueued, err := api.Enqueue(qstash.EnqueueUrlGroupOptions{
		Queue: "go-groups", PublishUrlGroupOptions: qstash.PublishUrlGroupOptions{UrlGroup: "go-group", Body: "queued"},
	})
	on.is("UrlGroups.Enqueue", err, len(enqueued) == 2, enqueued)
	enqueued, err = api.EnqueueJSON(qstash.EnqueueUrlGroupJSONOptions{
		Queue: "go-groups", PublishUrlGroupJSONOptions: qstash.PublishUrlGroupJSONOptions{UrlGroup: "go-group", Body: map[string]any{"n": 1}},
	})
	on.is("UrlGroups.EnqueueJSON", err, len(enqueued) == 2, enqueued)
}

func deadLetters(on *driver) {
	api := on.client.Dlq()
	var letters []string
	for range 3 {
		published, err := on.client.Publish(qstash.PublishOptions{Url: url("/broken"), Retries: qstash.RetryCount(0)})
		on.is("Client.Publish", err, true, published)
		on.eventually("Dlq.List", func() (bool, any, error) {
			found, _, err := api.List(qstash.ListDlqOptions{Count: 10, Filter: qstash.DlqFilter{MessageId: published.MessageId}})
			if len(found) == 1 {
				letters = append(letters, found[0].DlqId)
			}
			return len(found) == 1, found, err
		})
	}
	found, err := api.Get(letters[0])
	on.is("Dlq.Get", err, found.DlqId == letters[0] && found.ResponseStatus == 404, found)
	on.is("Dlq.Delete", api.Delete(letters[0]), true, nil)
	deleted, err := api.DeleteMany(letters[1:])
	on.is("Dlq.DeleteMany", err, deleted == 2, deleted)
}

func events(on *driver) {
	published, err := on.client.Publish(qstash.PublishOptions{Url: url("/logged"), Body: "x"})
	on.is("Client.Publish", err, true, published)
	filter := qstash.EventFilter{MessageId: published.MessageId, Url: url("/logged"), State: qstash.Delivered}
	on.eventually("Events.List", func() (bool, any, error) {
		found, _, err := on.client.Events().List(qstash.ListEventsOptions{Count: 10, Filter: filter})
		return len(found) == 1, found, err
	})
}

func canceling(on *driver) {
	var ids []string
	for range 3 {
		published, err := on.client.Publish(qstash.PublishOptions{Url: url("/never"), Delay: "1h"})
		on.is("Client.Publish", err, true, published)
		ids = append(ids, published.MessageId)
	}
	cancelled, err := on.client.Messages().CancelMany(ids[:2])
	on.is("Messages.CancelMany", err, cancelled == 2, cancelled)
	cancelled, err = on.client.Messages().CancelAll()
	on.is("Messages.CancelAll", err, cancelled >= 1, cancelled)
}

func keys(on *driver) {
	before, err := on.client.Keys().Get()
	on.is("Keys.Get", err, before.Current != "" && before.Next != "", before)
	after, err := on.client.Keys().Rotate()
	on.is("Keys.Rotate", err, after.Current == before.Next && after.Next != before.Next, after)
}
