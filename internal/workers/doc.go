// Package workers does jobs on other machines, by way of asynq (github.com/hibiken/asynq) on a Redis.
//
// A [Pool] cuts each batch of jobs into chunks, which are asynq's tasks, and waits for their results. [Serve] is a worker: it
// takes chunks from the queue. Any number of workers can come and go. A chunk is named after what it asks for, and gives the
// same wherever and however often it is done, so that it does no harm if a task is delivered twice, if a second coordinator
// asks for the same, or if one that was killed asks again.
//
// Results depend on the program, so that each build has a queue of its own: see [Build].
package workers
