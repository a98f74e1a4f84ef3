package explain

import "redlocksim/history"

// grants is how often a client is granted the lock.
func grants(h history.History, client string) int {
	return number(h, func(e *history.Event) bool {
		return e.Process == client && e.Kind == history.Return && e.Func == history.Acquire && e.Outcome == history.OK
	})
}

// number is how many events of a history are so.
func number(h history.History, is func(*history.Event) bool) int {
	n := 0
	for i := range h {
		if is(&h[i]) {
			n++
		}
	}
	return n
}

func isWrite(e *history.Event) bool { return e.Kind == history.Effect && e.Func == history.Write }
