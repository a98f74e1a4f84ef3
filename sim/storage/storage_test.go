package storage

import (
	"testing"
	"time"

	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
)

// shop is a storage with its clients, and what it recorded.
type shop struct {
	kernel   *kernel.Kernel
	network  *network.Network
	storage  *Storage
	recorded history.History
}

func newShop(latency network.Latency, clients ...string) *shop {
	s := &shop{kernel: kernel.New(kernel.Config{})}
	s.network = network.New(s.kernel)
	s.storage = New(s.kernel, s.network, Register, func(e history.Event) {
		e.Time = int64(s.kernel.Now())
		s.recorded = append(s.recorded, e)
	})
	for _, name := range clients {
		s.storage.Connect(s.kernel.NewProcess(name, kernel.Monotonic), latency)
	}
	return s
}

func (s *shop) client(name string) *kernel.Process { return s.network.Link(name, Name).Client() }

func (s *shop) read(c *kernel.Process, op int, resource string) (int64, history.Outcome) {
	e := s.storage.Do(c, s.kernel.Draw("read"), history.Event{Func: history.Read, Op: op, Grant: 1, Resource: resource})
	return e.Number, e.Outcome
}

func (s *shop) write(c *kernel.Process, op int, resource string, number int64) history.Outcome {
	return s.storage.Do(c, s.kernel.Draw("write"), history.Event{Func: history.Write, Op: op, Grant: 1, Resource: resource, Number: number}).Outcome
}

// TestLatencyDoesNotDependOnOtherClients: the numbers of operations, which count those of all clients, have no part in
// what is drawn.
func TestLatencyDoesNotDependOnOtherClients(t *testing.T) {
	run := func(op int) (took time.Duration) {
		s := newShop(network.Uniform(0, time.Second), "c1", "c2")
		defer s.kernel.Close()
		c := s.client("c2")
		c.Go(func() {
			s.write(c, op, "R", 1)
			took = s.kernel.Now().Sub(0)
		})
		s.kernel.Run(kernel.True(time.Minute))
		return took
	}
	if a, b := run(1), run(2); a != b {
		t.Errorf("the same write took %v, and %v after an operation of another client", a, b)
	}
}

func TestStorage(t *testing.T) {
	s := newShop(network.Constant(5), "c")
	defer s.kernel.Close()
	c := s.client("c")
	var got []any
	c.Go(func() {
		number, outcome := s.read(c, 1, "R")
		got = append(got, number, outcome)
		got = append(got, s.write(c, 2, "R", 7), s.kernel.Now())
		number, outcome = s.read(c, 3, "R")
		got = append(got, number, outcome)
		number, outcome = s.read(c, 4, "S")
		got = append(got, number, outcome)
		got = append(got, s.write(c, 5, "R", 9), s.kernel.Now())
	})
	s.kernel.After(47, s.network.Link("c", Name).Reset) // it was taken at 45, the answer is lost
	s.kernel.Run(100)
	want := []any{int64(0), history.OK, history.OK, kernel.True(20), int64(7), history.OK, int64(0), history.OK, history.Unknown, kernel.True(47)}
	if len(got) != len(want) {
		t.Fatalf("%v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%d: %v, want %v", i, got[i], want[i])
		}
	}
	h := s.recorded
	if e := h[len(h)-1]; len(h) != 5 || e.Func != history.Write || e.Number != 9 || e.Time != 45 || e.Process != "c" || e.Outcome != history.OK {
		t.Errorf("%d effects, the last is %+v", len(h), e)
	}
}

// A versioned storage takes a write that goes by the last read or write, and no other: it is the same whose it was, and whether
// the number is the same.
func TestVersions(t *testing.T) {
	cells := NewCells(Versioned)
	for i, x := range []struct {
		f         history.Func
		op, basis int
		resource  string
		want      history.Outcome
	}{
		{history.Write, 1, 0, "R", history.Failed}, // it knows no version
		{history.Read, 2, 0, "R", history.OK},
		{history.Read, 3, 0, "R", history.OK},
		{history.Write, 4, 2, "S", history.Failed}, // the version is another resource's
		{history.Write, 5, 2, "R", history.OK},
		{history.Write, 6, 3, "R", history.Failed}, // which was read before
		{history.Write, 5, 2, "R", history.Failed}, // the same message again
		{history.Mark, 7, 0, "R", history.OK},
		{history.Write, 8, 5, "R", history.OK}, // as a write returns its version, too
		{history.Read, 9, 0, "R", history.OK},
		{history.Write, 10, 8, "R", history.OK}, // a read changes none
		{history.Write, 11, 9, "R", history.Failed},
		{history.Write, 12, 6, "R", history.Failed}, // what was refused returned none
	} {
		e := history.Event{Func: x.f, Op: x.op, Basis: x.basis, Resource: x.resource, Number: 7}
		if cells.Take(&e); e.Outcome != x.want {
			t.Errorf("request %d, %s %d: %s, want %s", i, x.f, x.op, e.Outcome, x.want)
		}
	}
}
