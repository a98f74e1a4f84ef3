package redlock

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"redlocksim/redlock/driver"
)

// ledger is a node that notes the batches it is given, and answers when the test says so.
type ledger struct {
	mu      sync.Mutex
	batches [][]*driver.Command
}

func (*ledger) Name() string { return "ledger" }

func (l *ledger) Do(batch []*driver.Command) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.batches = append(l.batches, append([]*driver.Command(nil), batch...))
}

// sizes tells how many commands each batch had.
func (l *ledger) sizes() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var sizes []int
	for _, b := range l.batches {
		sizes = append(sizes, len(b))
	}
	return fmt.Sprint(sizes)
}

// answer accepts the batch with that number.
func (l *ledger) answer(number int) {
	l.mu.Lock()
	b := l.batches[number]
	l.mu.Unlock()
	for _, cmd := range b {
		cmd.Done(cmd, driver.Reply{Outcome: driver.Accepted})
	}
}

// ask has so many calls ask for a lock, each for one of its own, and lets time pass.
func (w *world) ask(n int, d time.Duration) {
	for range n {
		w.asked++
		resource := fmt.Sprint("r", w.asked)
		go func() { _, _ = w.TryLock(w.Context(), resource, time.Second) }()
	}
	time.Sleep(d)
}

func TestBatches(t *testing.T) {
	tests := []struct {
		name string
		n    int
		do   func(w *world, l *ledger)
		want string
	}{
		{"the first goes at once, the others behind it", 1, func(w *world, l *ledger) {
			w.ask(1, millis("1"))
			w.ask(3, millis("1"))
			l.answer(0)
		}, "[1 3]"},
		{"as many as allowed go at once", 3, func(w *world, l *ledger) {
			w.ask(1, millis("1"))
			w.ask(1, millis("1"))
			w.ask(1, millis("1"))
			w.ask(2, millis("1"))
			l.answer(1)
		}, "[1 1 1 2]"},
		{"what waits for nothing stays", 1, func(w *world, l *ledger) {
			w.ask(1, millis("1"))
			w.ask(2, millis("11"))
		}, "[1]"},
		{"a batch that is not answered is not waited for longer than a quarter of the node timeout", 1, func(w *world, l *ledger) {
			w.ask(1, millis("1"))
			w.ask(2, millis("12"))
			w.ask(1, millis("1")) // behind the second batch
		}, "[1 2]"},
		{"it is not in the way of those that come later either", 1, func(w *world, l *ledger) {
			w.ask(1, millis("13"))
			w.ask(1, millis("1"))
			w.ask(1, millis("13"))
		}, "[1 1 1]"},
		{"its answer is taken all the same", 1, func(w *world, l *ledger) {
			w.ask(1, millis("13"))
			w.ask(1, millis("1"))
			w.ask(1, 0)
			l.answer(0) // not that of the batch that is waited for
		}, "[1 1]"},
		{"a batch is answered when all of it is", 1, func(w *world, l *ledger) {
			w.ask(1, millis("1"))
			w.ask(2, millis("1"))
			l.answer(0)
			w.ask(1, millis("1"))
			l.mu.Lock()
			first := l.batches[1][0]
			l.mu.Unlock()
			first.Done(first, driver.Reply{Outcome: driver.Accepted})
		}, "[1 2]"},
		{"a command that has timed out holds up no other, though its batch is young", 1, func(w *world, l *ledger) {
			w.ask(1, millis("1"))
			w.ask(3*256+1, millis("1"))
			l.answer(0) // at 2 ms; full batches go then and at 14.5 and 27 ms, the last command at 39.5 ms
			time.Sleep(millis("43"))
			for full := 1; full <= 3; full++ {
				l.answer(full)
			}
			time.Sleep(millis("6.5")) // at 51 ms the last has timed out, and is released; its batch is waited for until 52 ms
		}, "[1 256 256 256 1 1]"},
		{"a batch has at most 256 commands", 1, func(w *world, l *ledger) {
			w.ask(1, millis("1"))
			w.ask(600, millis("1"))
			l.answer(0)
			l.answer(1)
		}, "[1 256 256]"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			in(t, 1, func(w *world) {
				l := &ledger{}
				c, err := New([]driver.Node{l}, WithBatching(test.n))
				if err != nil {
					t.Fatal(err)
				}
				w.Client = c
				test.do(w, l)
				if got := l.sizes(); got != test.want {
					t.Errorf("batches %s, want %s", got, test.want)
				}
			})
		})
	}
	for _, n := range []int{0, -1} {
		if _, err := New([]driver.Node{&ledger{}}, WithBatching(n)); !errors.Is(err, ErrInvalid) {
			t.Errorf("WithBatching(%d): %v", n, err)
		}
	}
}

// An acquire whose deadline passes while it waits is not sent: its call has ended. That takes a process that stands still,
// or more to do than fits into the batches.
func TestBatchesAndDeadlines(t *testing.T) {
	in(t, 1, func(w *world) {
		l := &ledger{}
		c, err := New([]driver.Node{l}, WithBatching(1), WithRuntime(driver.Runtime{Clock: lateClock{driver.SystemClock(), millis("60")}}))
		if err != nil {
			t.Fatal(err)
		}
		w.Client = c
		w.ask(1, millis("1"))
		w.ask(1, millis("51")) // until its deadline, at which no timer has run yet
		w.ask(1, millis("1"))
		l.mu.Lock()
		defer l.mu.Unlock()
		if len(l.batches) != 2 || len(l.batches[1]) != 1 || l.batches[1][0].Keys[0] != "r3" {
			t.Errorf("%d batches, want the first and the third command", len(l.batches))
		}
	})
}

// asker asks for a command, and gives it up at some time.
type asker struct {
	sender
	givesUp bool
}

func (a *asker) IsMoot() bool { return a.givesUp }

// A command that waits for an answer is sent when that comes, also if it comes just when the batcher finds that nothing may go.
func TestAnswerWhileNothingMayGo(t *testing.T) {
	for range 10 { // since no test can say who gets a mutex
		clock := &readClock{Clock: driver.SystemClock()}
		b := newBatcher(&ledger{}, &settings{clock: clock, batching: 4, nodeTimeout: time.Hour})
		command := func(value string) (*queued, *asker) {
			a := &asker{}
			return &queued{Command: driver.Command{Op: driver.OpAcquire, Keys: []string{"r"}, Value: value, Deadline: time.Now().Add(time.Hour), Shared: a}}, a
		}
		first, giver := command("given up")
		b.ask(first)
		giver.givesUp = true
		var answer sync.WaitGroup
		clock.atReading(1, func() { // with the mutex held
			answer.Go(func() { b.answered(first) })
			time.Sleep(2 * time.Millisecond) // who waits for a mutex for longer than 1 ms, and is woken in vain, gets it next
			b.mu.Unlock()
			b.mu.Lock()
			time.Sleep(time.Millisecond)
		})
		second, _ := command("waits for the answer")
		b.ask(second)
		answer.Wait()
		if !second.wasSent {
			t.Fatal("nothing is on its way, and what waits is not sent")
		}
	}
}
