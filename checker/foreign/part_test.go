package foreign

import (
	"errors"
	"strings"
	"testing"
)

// What is not to be judged is passed over, whichever of its lines says what it is.
func TestAPartOfAHistory(t *testing.T) {
	const (
		open  = "{:process 0 :type :invoke :f :acquire}\n"
		a     = "{:process 0 :type :ok :f :acquire :key a}\n"
		other = "{:process 1 :type :invoke :f :acquire :key a}\n{:process 1 :type :ok :f :acquire}\n"
		read  = "{:process 0 :type :invoke :f :read :value {:token x}}\n{:process 0 :type :info :f :read}\n"
	)
	for _, c := range []struct {
		in      string
		o       Options
		want    string // findings, or the error
		ops     int
		leftOut int
	}{
		{open + a + other, Options{}, "lease-overlap x1 1-2,3-4", 2, 0},
		{open + a + other, Options{Keys: []string{"a"}}, "lease-overlap x1 1-2,3-4", 2, 0},
		{open + a + strings.ReplaceAll(other, "a}", "b}"), Options{Keys: []string{"a", "c"}}, "", 1, 2},
		// The return alone names the lock.
		{open + strings.ReplaceAll(a, "a}", "b}") + other, Options{Keys: []string{"a"}}, "", 1, 1},
		{open + a + read + other, Options{Only: []string{"acquire"}}, "lease-overlap x1 1-2,5-6", 2, 2},
		{open + a + read + other, Options{Only: []string{"release"}}, "no operations", 0, 0},
		{open + a + read + other, Options{}, "--map read=acquire|extend|release", 0, 0},
		{open + read, Options{Only: []string{"acquire"}}, "invokes another operation while its acquire of line 1 is open", 0, 0},
		{strings.SplitAfter(read, "\n")[0] + open + a, Options{Only: []string{"acquire"}}, "invokes acquire while an operation of its that is left out is open", 0, 0},
		{strings.SplitAfter(read, "\n")[0] + read, Options{Only: []string{"acquire"}}, "invokes another operation while an operation of its", 0, 0},
		{open + strings.SplitAfter(read, "\n")[1] + a, Options{Only: []string{"acquire"}}, "returns from another operation, but on line 1 it invoked acquire", 0, 0},
		{strings.ReplaceAll(open, "acquire}", "acquire :key a}") + strings.ReplaceAll(a, "a}", "b}"), Options{Keys: []string{"a"}}, "returns from another operation", 0, 0},
		{"{:process 0 :type :done :f :read}\n", Options{Only: []string{"acquire"}}, "unknown type", 0, 0},
		{open + "{:process 0 :type :ok :f :acquire}\n", Options{Keys: []string{"a"}}, "names no lock", 0, 0},
		{open + a, Options{Keys: []string{"a"}, Group: OneLock}, "none can be chosen by key", 0, 0},
	} {
		c.o.Model = Owner
		r, err := check(strings.NewReader(c.in), c.o)
		switch {
		case err != nil && (c.ops != 0 || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%q: %v, want %s", c.in, err, c.want)
		case err == nil && (shown(r) != c.want || r.Operations != c.ops || r.LeftOut != c.leftOut):
			t.Errorf("%q: %q, %+v; want %q of %d operations, %d lines left out", c.in, shown(r), r, c.want, c.ops, c.leftOut)
		}
	}
}

// What is passed over needs no time, and stays where it is among the lines of its file, though another file is later.
func TestAPartOfSeveralFiles(t *testing.T) {
	const (
		first  = "{:process 0 :type :invoke :f :acquire :time 1}\n{:process 0 :type :ok :f :acquire :time 9}\n"
		second = "{:process 1 :type :invoke :f :read}\n{:process 1 :type :ok :f :read}\n{:process 1 :type :invoke :f :acquire :time 2}\n"
	)
	for _, isSorted := range []bool{false, true} {
		r, err := Check(Options{Model: Owner, Only: []string{"acquire"}, Sort: isSorted},
			Source{"first", strings.NewReader(first)}, Source{"second", strings.NewReader(second)})
		if err != nil || r.Operations != 2 || r.LeftOut != 2 {
			t.Errorf("sorted %t: %+v, %v", isSorted, r, err)
		}
	}
}

func TestSorted(t *testing.T) {
	for _, c := range []struct {
		events string
		moved  int
		err    error
	}{
		{"@0 0 acquire; @1 0 ok; @2 1 acquire; @11 1 ok", 0, nil},
		{"@0 0 acquire; @2 1 acquire; @1 0 ok; @11 1 ok", 1, nil},
		{"@2 1 acquire; @0 0 acquire; @1 0 ok; @11 1 ok", 2, nil},
		// The order of the file counts where the times are equal, and a return cannot come to stand before its invoke.
		{"@0 0 acquire; @0 0 ok; @0 0 release; @0 0 ok; @0 1 acquire; @0 1 ok", 0, nil},
		{"@5 0 acquire; @4 0 ok", 1, ErrMixedUp},
	} {
		r, err := check(strings.NewReader(script(t, c.events)), Options{Model: Lease, Lease: 10, Sort: true})
		if !errors.Is(err, c.err) || err == nil && (!r.Good() || r.Moved != c.moved) {
			t.Errorf("%s: %+v, %v", c.events, r, err)
		}
	}
	if _, err := check(strings.NewReader("{:process 0 :type :invoke :f :acquire}"), Options{Model: Owner, Sort: true}); !errors.Is(err, ErrOperation) {
		t.Errorf("no time: %v", err)
	}
	// What is left out keeps its place among them.
	in := `{"process":0,"type":"invoke","f":"read","time":5}{"process":1,"type":"invoke","f":"lock","time":10}
{"process":0,"type":"ok","f":"read","time":6}{"process":0,"type":"invoke","f":"lock","time":7}
{"process":0,"type":"ok","f":"lock","time":8}{"process":1,"type":"ok","f":"lock","time":11}`
	r, err := check(strings.NewReader(in), Options{Model: Owner, Sort: true, Only: []string{"lock"}})
	if err != nil || shown(r) != "lease-overlap x1 2-3,1-3" || r.Moved != 2 || r.LeftOut != 2 {
		t.Errorf("%v, %+v, %v", shown(r), r, err)
	}
	// Of any model, and whatever the indexes say.
	in = `{"process":0,"type":"invoke","f":"lock","time":3,"index":0}{"process":0,"type":"ok","f":"lock","time":4,"index":1}` +
		`{"process":1,"type":"invoke","f":"lock","time":0,"index":2}{"process":1,"type":"ok","f":"lock","time":1,"index":3}` +
		`{"process":1,"type":"invoke","f":"unlock","time":1,"index":4}{"process":1,"type":"ok","f":"unlock","time":2,"index":5}`
	r, err = check(strings.NewReader(in), Options{Model: Owner, Sort: true})
	if err != nil || !r.Good() || r.Moved != 4 {
		t.Errorf("%+v, %v", r, err)
	}
}

// Where all operations stand on one line, an error says by its index which one it is about.
func TestErrorsNameTheIndex(t *testing.T) {
	_, err := check(strings.NewReader(`[{"process":0,"type":"invoke","f":"lock","index":10},{"process":0,"type":"invoke","f":"lock","index":11}]`), Options{Model: Owner})
	if err == nil || err.Error() != "line 1: index 11: mixed up: process 0 invokes acquire while its acquire of line 1 (index 10) is open" {
		t.Errorf("%v", err)
	}
}

// What is not used is said once, with the line where it stands first; other lines than those judged do not count.
func TestNotes(t *testing.T) {
	const in = `{"process":0,"type":"invoke","f":"lock","host":"h","Name":"x","time":5}
{"process":0,"type":"ok","f":"lock","host":"h","value":{"token":7,"uid":"u"},"error":"none"}
{"process":"nemesis","type":"info","f":"kill","target":"n1"}
{"process":0,"type":"invoke","f":"read","row":1}
{"process":0,"type":"ok","f":"read","row":1}
{"process":1,"type":"invoke","f":"lock","host":"h"}
{"process":1,"type":"fail","f":"lock","ttl":"5s"}`
	r, err := check(strings.NewReader(in), Options{Model: Owner, Only: []string{"acquire", "release"}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		`fields that are not understood, and not used: "host" (3 lines, first on line 1), "Name" (1 line, first on line 1), ` +
			`"value.uid" (1 line, first on line 2)`,
		`tokens, which --model owner does not judge: "token" (1 line, first on line 2)`,
		`left out by --only, and of no effect if it does nothing to the lock: "read" (2 lines, first on line 4)`,
		`the length of a lease, which --model owner does not judge: "ttl" (1 line, first on line 7)`,
	} {
		if i >= len(r.Notes) || r.Notes[i] != want {
			t.Errorf("note %d of %q: want %q", i, r.Notes, want)
		}
	}
	if len(r.Notes) != 4 {
		t.Errorf("%q", r.Notes)
	}
	// Of many, some.
	var many strings.Builder
	for i := range 30 {
		many.WriteString(`{"process":0,"type":"invoke","f":"lock","x` + strings.Repeat("y", i) + `":1}` +
			`{"process":0,"type":"fail","f":"lock"}`)
	}
	r, err = check(strings.NewReader(many.String()), Options{Model: Owner})
	if err != nil || strings.Count(r.Notes[0], "first on") != maxNoticed || !strings.HasSuffix(r.Notes[0], ", …") {
		t.Errorf("%v, %v", r, err)
	}
}
