// Package soak lets many clients take locks on redis-server processes for minutes, while faults are injected at random within
// what the settings allow. [Run] does that; no scenario says what happens. The processes, the time and the faults are those of
// package live.
//
// A soak runs in rounds. When the faults of a round have ended, the checkers must find no two holders at once in its
// history, every lock must be granted in time, and no key of one may be left after that, or lack a time to live; bounds.go
// says why these are the bounds. In the end the clients close everything, and no goroutine and no connection may be left. A
// soak in which too little happened counts as not tested.
//
// A node that lost its memory comes back after the budget's restart-delay, or at once if the lock uses the restart guard.
// Pauses, lost messages and killed clients only cost time. Clients share processes, and in each process one connection pool
// per node, as in a service.
//
// A program that uses Run must call Client of package live when it is started as [Options].Client says.
package soak
