// Package workers does jobs on other machines, by way of streams of a Redis.
//
// A [Pool] cuts each batch of jobs into chunks, puts them into a queue, and waits for their results. [Worker.Serve] takes
// chunks from the queue. Any number of workers can come and go. A chunk gives the same wherever and however often it is done,
// so that it does no harm if a worker that seemed to be lost comes back. What the Redis loses is stored and asked for again.
//
// A file that jobs share, such as a lock program, goes to each worker once:
//
//  1. What the jobs of a batch share names the file by its SHA-256 ([jobs.Kind] Pack), and the batch has its bytes.
//  2. The pool stores the bytes under that hash before it asks for a chunk, and renews their expiry of ten minutes.
//  3. A worker that opens a set of jobs fetches the file, unless it has it, and compares the hash ([jobs.Kind] Unpack).
//  4. A file that is not there is stored again, and the worker tries again; the pool tells why.
//  5. One that is too large, that has another hash or that is no such program is refused, which ends the batch with an error.
//
// Results depend on the program, so that each build has a queue of its own: see [Build].
package workers
