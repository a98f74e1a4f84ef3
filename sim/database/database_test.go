package database_test

import (
	"context"
	"testing"
	"time"

	"redlocksim/sim"
	"redlocksim/sim/database"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/model"
	"redlocksim/sim/network"
)

// client runs a program of a client of the database.
func client(t *testing.T, cleanUp time.Duration, do func(w *sim.World, d *database.Client, p *kernel.Process)) history.History {
	t.Helper()
	w := sim.NewWorld(sim.Config{Nodes: []string{"database"}, Clients: []sim.ClientConfig{{Name: "client"}},
		Latency: network.Constant(time.Millisecond)}, model.New())
	defer w.Close()
	d, p := database.Of(w, cleanUp), w.Client("client")
	requests, done := uint64(0), false
	p.Go(func() {
		do(w, d.Client(p, func() (kernel.Key, time.Time) {
			requests++
			return kernel.Key(requests), p.ProgramClock().Now().Add(100 * time.Millisecond)
		}), p)
		done = true
	})
	w.Kernel.Run(kernel.True(time.Minute))
	if !done {
		t.Error("the client did not come to its end")
	}
	return w.History()
}

func expect(t *testing.T, what string, got database.Result, err error, want database.Result) {
	t.Helper()
	if err != nil || got != want {
		t.Errorf("%s: %v, %v; want %v", what, got, err, want)
	}
}

const idle = 10 * time.Second

// transactions are those of one client.
type transactions struct {
	t *testing.T
	d *database.Client
	p *kernel.Process
}

func (x *transactions) sleep(d time.Duration) { x.p.Sleep(context.Background(), d) }

func (x *transactions) begin(what, name string, want database.Result) {
	x.t.Helper()
	result, err := x.d.Begin(name, "r", idle)
	expect(x.t, what, result, err, want)
}

func (x *transactions) write(what, name string, number int64, want database.Result) {
	x.t.Helper()
	e := history.Event{Func: history.Write, Resource: "r", Number: number, Op: int(number)}
	result, _, err := x.d.Access(name, e)
	expect(x.t, what, result, err, want)
}

func (x *transactions) read(name string, want int64) {
	x.t.Helper()
	result, number, err := x.d.Access(name, history.Event{Func: history.Read, Resource: "r"})
	expect(x.t, "read", result, err, database.Done)
	if number != want {
		x.t.Errorf("%s reads %d, want %d", name, number, want)
	}
}

func (x *transactions) tryCommit(name string) (database.Result, error) {
	return x.d.Commit(name, func() {})
}

func (x *transactions) commit(what, name string, want database.Result) {
	x.t.Helper()
	result, err := x.tryCommit(name)
	expect(x.t, what, result, err, want)
}

func TestTransaction(t *testing.T) {
	h := client(t, 0, func(w *sim.World, d *database.Client, p *kernel.Process) {
		x := &transactions{t, d, p}
		x.begin("begin", "a", database.Done)
		x.begin("the row is locked", "b", database.Locked)
		x.write("write", "a", 1, database.Done)
		x.read("a", 1)
		x.commit("commit", "a", database.Done)
		x.commit("commit again", "a", database.Gone)

		x.begin("the row is free", "b", database.Done)
		x.sleep(idle - 10*time.Millisecond)
		x.write("just in time", "b", 2, database.Done)
		x.sleep(idle - 10*time.Millisecond)
		x.read("b", 2)
		x.sleep(idle + 10*time.Millisecond)
		x.commit("too late", "b", database.Gone)

		x.begin("the row is free after the timeout", "c", database.Done)
		x.read("c", 1)
		if err := w.Servers[0].Kill(); err != nil {
			t.Fatal(err)
		}
		if _, err := x.tryCommit("c"); err == nil {
			t.Error("a database that is down has committed")
		}
		if err := w.Servers[0].Restart(); err != nil {
			t.Fatal(err)
		}
		x.commit("transactions end with the process", "c", database.Gone)
		x.begin("and so do their locks", "e", database.Done)
		x.read("e", 1)
	})
	var writes []string
	for _, e := range h {
		if e.Func == history.Write {
			writes = append(writes, string(e.Outcome))
		}
	}
	if len(writes) != 2 || writes[0] != string(history.OK) || writes[1] != string(history.Failed) {
		t.Errorf("effects of writes: %v, want the first committed and the second rolled back", writes)
	}
}

func TestUniqueIndex(t *testing.T) {
	client(t, idle, func(w *sim.World, d *database.Client, p *kernel.Process) {
		sleep := func(d time.Duration) { p.Sleep(context.Background(), d) }
		insert := func(name string) (database.Result, error) { return d.Insert("r", name) }
		remove := func(name string) (database.Result, error) { return d.Delete("r", name) }
		result, err := insert("a")
		expect(t, "insert", result, err, database.Done)
		result, err = insert("b")
		expect(t, "a row that is there", result, err, database.Locked)
		result, err = remove("b")
		expect(t, "somebody else's row", result, err, database.Gone)
		if err := w.Servers[0].LosePower(); err != nil {
			t.Fatal(err)
		}
		if err := w.Servers[0].Restart(); err != nil {
			t.Fatal(err)
		}
		result, err = insert("b")
		expect(t, "rows survive a restart", result, err, database.Locked)
		sleep(idle - time.Second)
		result, err = d.Touch("r", "a")
		expect(t, "touch", result, err, database.Done)
		sleep(idle - time.Second)
		result, err = insert("b")
		expect(t, "a row that was touched is not old", result, err, database.Locked)
		w.Servers[0].Clock().Step(time.Minute)
		sleep(2 * time.Second)
		result, err = insert("b")
		expect(t, "the clean-up goes by the wall clock", result, err, database.Done)
		result, err = remove("b")
		expect(t, "delete", result, err, database.Done)
		result, err = insert("a")
		expect(t, "the row is gone", result, err, database.Done)
	})
}
