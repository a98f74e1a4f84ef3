// Package redlocktest has nodes in memory for the tests of services that use package redlock. They need no server, fail on
// request, and notice locks that were never unlocked.
//
//	nodes := redlocktest.New(t, 5)
//	sent := 0
//	s := sender{locks: nodes.Client(), send: func(int) { sent++ }}
//	time.AfterFunc(30500*time.Millisecond, func() { nodes.Steal("invoices", time.Minute) })
//
//	err := s.sendAll(t.Context())
//	if !errors.Is(err, redlock.ErrLost) {
//		t.Errorf("the error is %v", err)
//	}
//
// In a bubble of testing/synctest a minute passes at once, and a test takes the same course every time: the nodes use package
// time only, and the first answers after a microsecond, the second after two, and so on. Only retry delays are random; see
// redlock.WithRetryDelay. Outside of a bubble the nodes work as well, in real time.
//
// A node does what [redlocksim/redlock/driver] says, as a Redis server does. It carries commands out on other goroutines, when
// they arrive, even if nobody waits for them any more: the client itself gives up on a node that has not answered within its
// node timeout.
package redlocktest
