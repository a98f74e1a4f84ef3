package checker

import (
	"slices"
	"testing"

	"redlocksim/sim/history"
)

// tenure is one grant in a test of tokens: who, its token, and the tokens of the writes it has accepted and refused. late
// lets the lease end before the acquire returns.
type tenure struct {
	who     string
	token   int64
	writes  []int64
	refused []int64
	late    bool
}

func (s tenure) history(op int) history.History {
	grant := op
	h := history.History{{Kind: history.Call, Process: s.who, Op: op, Func: history.Acquire, Resource: "r"}}
	if s.late {
		h = append(h, history.Event{Kind: history.Expire, Process: s.who, Grant: grant, Resource: "r"})
	}
	h = append(h, history.Event{Kind: history.Return, Process: s.who, Op: op, Func: history.Acquire, Outcome: history.OK, Token: s.token, Grant: grant, Resource: "r"})
	write := func(token int64, o history.Outcome) {
		op++
		h = append(h,
			history.Event{Kind: history.Call, Process: s.who, Op: op, Func: history.Write, Resource: "r", Grant: grant, Number: int64(op)},
			history.Event{Kind: history.Effect, Process: s.who, Op: op, Func: history.Write, Resource: "r", Grant: grant, Number: int64(op), Token: token, Outcome: o},
			history.Event{Kind: history.Return, Process: s.who, Op: op, Func: history.Write, Resource: "r", Grant: grant, Number: int64(op), Outcome: o})
	}
	for _, token := range s.writes {
		write(token, history.OK)
	}
	for _, token := range s.refused {
		write(token, history.Failed)
	}
	op++
	return append(h,
		history.Event{Kind: history.Call, Process: s.who, Op: op, Func: history.Release, Grant: grant, Resource: "r"},
		history.Event{Kind: history.Return, Process: s.who, Op: op, Func: history.Release, Grant: grant, Outcome: history.OK, Resource: "r"})
}

func TestTokens(t *testing.T) {
	for name, c := range map[string]struct {
		tenures []tenure
		want    []Kind
	}{
		"rising":                      {[]tenure{{who: "a", token: 1, writes: []int64{1}}, {who: "b", token: 2, writes: []int64{2, 2}}, {who: "a", token: 7}}, nil},
		"none":                        {[]tenure{{who: "a"}, {who: "b"}}, nil},
		"falling from grant to grant": {[]tenure{{who: "a", token: 2}, {who: "b", token: 1}}, []Kind{TokenRegressed}},
		"repeated":                    {[]tenure{{who: "a", token: 3}, {who: "b", token: 3}}, []Kind{TokenRepeated}},
		"repeated later":              {[]tenure{{who: "a", token: 3}, {who: "b", token: 4}, {who: "c", token: 3}}, []Kind{TokenRegressed, TokenRepeated}},
		"falling at the resource":     {[]tenure{{who: "a", writes: []int64{5}}, {who: "b", writes: []int64{2}}}, []Kind{TokenRegressed}},
		"refused there":               {[]tenure{{who: "a", writes: []int64{5}}, {who: "b", refused: []int64{2}}}, []Kind{HolderRefused}},
		"reported after its end":      {[]tenure{{who: "a", token: 2}, {who: "b", token: 1, late: true}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var h history.History
			for i, s := range c.tenures {
				h = append(h, s.history(1+10*i)...)
			}
			for i := range h {
				h[i].Seq, h[i].Time = i+1, int64(i)
			}
			// Operation numbers must not exceed the number of events.
			for len(h) < 100 {
				h = append(h, history.Event{Kind: history.Step, Seq: len(h) + 1, Time: int64(len(h)), Name: "pad"})
			}
			r, err := Check(h, Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []Kind
			for _, f := range r.Findings {
				got = append(got, f.Kind)
				if len(f.Windows) != 2 && f.Kind != HolderRefused || f.Text == "" || f.ToSeq <= f.FromSeq {
					t.Errorf("%+v", f)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("found %v, want %v", got, c.want)
			}
		})
	}
}
