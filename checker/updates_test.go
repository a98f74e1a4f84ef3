package checker

import (
	"errors"
	"slices"
	"testing"
)

func TestUpdates(t *testing.T) {
	const none, lost = "", "lost-update r x1"
	// Two grants; what is done under them after they ended is another rule's business.
	const locks = "c1 acquire 1; ok 1; expire 1; c2 acquire 2; ok 2; expire 2; "
	for _, c := range []struct{ rule, script, want string }{
		{"one after the other", "c1 read 3 of 1; applied 3; ok 3; c1 write 4 =1 of 1; applied 4; ok 4; c2 read 5 of 2; applied 5 =1; ok 5 =1; c2 write 6 =2 of 2; applied 6; ok 6", none},
		{"interleaved", "c1 read 3 of 1; applied 3; ok 3; c2 read 4 of 2; applied 4; ok 4; c1 write 5 =1 of 1; applied 5; c2 write 6 =2 of 2; applied 6", lost},
		{"interleaved, the later one turned down", "c1 read 3 of 1; applied 3; ok 3; c2 read 4 of 2; applied 4; ok 4; c1 write 5 =1 of 1; applied 5; c2 write 6 =2 of 2; refused 6; fail 6", none},
		{"interleaved, the later one not applied yet", "c1 read 3 of 1; applied 3; ok 3; c2 read 4 of 2; applied 4; ok 4; c1 write 5 =1 of 1; applied 5; c2 write 6 =2 of 2", none},
		{"applied after an unknown return", "c1 read 3 of 1; applied 3; ok 3; c1 write 5 =1 of 1; unknown 5; c2 read 4 of 2; applied 4; ok 4; c2 write 6 =2 of 2; applied 6; ok 6; applied 5", lost},
		{"overlapping, but read after the write", "c1 read 3 of 1; applied 3; ok 3; c1 write 5 =1 of 1; c2 read 4 of 2; applied 5; applied 4 =1; ok 4 =1; c2 write 6 =2 of 2; applied 6; ok 5; ok 6", none},
		{"a read whose answer was lost does not count", "c1 read 3 of 1; applied 3; unknown 3; c2 read 4 of 2; applied 4; ok 4; c2 write 5 =1 of 2; applied 5; c1 write 6 =2 of 1; applied 6", none},
		{"the last of two reads counts", "c1 read 3 of 1; applied 3; ok 3; c2 write 4 =1 of 2; applied 4; c1 read 5 of 1; applied 5 =1; ok 5 =1; c1 write 6 =2 of 1; applied 6", none},
		{"a write nobody read before is written over", "c1 read 3 of 1; applied 3; ok 3; c2 write 4 =1 of 2; applied 4; c1 write 6 =2 of 1; applied 6", lost},
		{"a write under no grant is written over", "c1 read 3 of 1; applied 3; ok 3; c2 write 4 =1; applied 4; c1 write 6 =2 of 1; applied 6", lost},
		{"a write that depends on nothing loses nothing", "c1 read 3 of 1; applied 3; ok 3; c1 write 4 =1 of 1; applied 4; c2 write 5 =2 of 2; applied 5", none},
		{"nor does one under no grant, though it has read", "c4 read 3; applied 3; ok 3; c1 write 4 =1 of 1; applied 4; c4 write 5 =2; applied 5", none},
		{"unless it says upon which read", "c4 read 3; applied 3; ok 3; c1 write 4 =1 of 1; applied 4; c4 write 5 =2 upon 3; applied 5", lost},
		{"upon one under a grant, too, as a transaction that commits after the release", "c1 read 3 of 1; applied 3; ok 3; c2 read 4 of 2; applied 4; ok 4; c1 write 5 =1 upon 3; applied 5; ok 5; c2 write 6 =1 upon 4; applied 6", lost},
		{"and nobody wrote between", "c1 read 3 of 1; applied 3; ok 3; c1 write 5 =1 upon 3; applied 5; ok 5; c2 read 4 of 2; applied 4 =1; ok 4 =1; c2 write 6 =2 upon 4; applied 6", none},
		{"when it arrives twice the first one counts", "c1 read 3 of 1; applied 3; ok 3; c1 write 5 =1 upon 3; applied 5; applied 5", none},
		{"a second write builds on the first", "c1 read 3 of 1; applied 3; ok 3; c1 write 4 =1 of 1; applied 4; ok 4; c1 write 5 =2 of 1; applied 5", none},
		{"and is interleaved", "c1 read 3 of 1; applied 3; ok 3; c1 write 4 =1 of 1; applied 4; ok 4; c2 write 6 =3 of 2; applied 6; c1 write 5 =2 of 1; applied 5", lost},
		{"a write that arrives twice, undisturbed", "c1 read 3 of 1; applied 3; ok 3; c1 write 4 =1 of 1; applied 4; applied 4", none},
		{"a write that arrives twice", "c1 read 3 of 1; applied 3; ok 3; c1 write 4 =1 of 1; applied 4; c2 write 5 =3 of 2; applied 5; applied 4", lost},
		{"a number comes back, no update is lost", "c1 read 3 of 1; applied 3; ok 3; c2 read 4 of 2; applied 4; ok 4; c2 write 5 =1 of 2; applied 5; ok 5; c2 write 6 =0 of 2; applied 6; c1 write 7 =9 of 1; applied 7", none},
		{"a number comes back, effects tell what porcupine cannot", "c1 read 3 of 1; applied 3; ok 3; c2 read 4 of 2; applied 4; ok 4; c2 write 5 =2 of 2; applied 5; ok 5; c3 acquire 8; fail 8; c1 write 7 =1 of 1; applied 7; c2 write 6 =0 of 2; applied 6; ok 7", "lost-update r x2"},
		{"own writes that overtake each other lose nothing of others", "c1 read 3 of 1; applied 3; ok 3; c1 write 4 =1 of 1; unknown 4; c1 write 5 =2 of 1; applied 5; applied 4", none},
		{"own writes that do not", "c1 read 3 of 1; applied 3; ok 3; c1 write 4 =1 of 1; unknown 4; c1 write 5 =2 of 1; applied 4; applied 5", none},
		{"a write that arrives twice, after its client read again", "c1 read 3 of 1; applied 3; ok 3; c1 write 4 =1 of 1; applied 4; ok 4; c2 write 5 =3 of 2; applied 5; c1 read 6 of 1; applied 6 =3; ok 6 =3; applied 4", lost},
		{"applied after its return and after others", "c1 read 3 of 1; applied 3; ok 3; c1 write 4 =9 of 1; unknown 4; c2 read 5 of 2; applied 5; ok 5; c2 write 6 =1 of 2; applied 6; ok 6; c2 write 7 =0 of 2; applied 7; ok 7; applied 4", none},
		{"effects that name no operation", "effect read of 1; effect read of 2; effect write =1 of 1; effect write =2 of 2", lost},
		{"effects that name no operation, in turn", "effect read of 1; effect write =1 of 1; effect read =1 of 2; effect write =2 of 2", none},

		{"a write that depends on nothing and arrives twice", "c1 write 4 =1 of 1; applied 4; c2 write 5 =3 of 2; applied 5; applied 4", none},
		{"a write under a later grant rests on what was read under an earlier one", "c1 read 3 of 1; applied 3; ok 3; c2 read 4 of 2; applied 4; ok 4; c2 write 5 =1 of 2; applied 5; ok 5; c1 acquire 6; ok 6; c1 write 7 =2 of 6 upon 3; applied 7; ok 7", lost},
		{"and loses nothing if nobody wrote between", "c1 read 3 of 1; applied 3; ok 3; c1 acquire 6; ok 6; c1 write 7 =2 of 6 upon 3; applied 7; ok 7", none},
		{"but only if it says so", "c1 read 3 of 1; applied 3; ok 3; c2 read 4 of 2; applied 4; ok 4; c2 write 5 =1 of 2; applied 5; ok 5; c1 acquire 6; ok 6; c1 write 7 =2 of 6; applied 7; ok 7", none},
		{"and while the other grant's program goes on", "c1 acquire 6; c1 read 3 of 1; applied 3; ok 3; c2 write 5 =1 of 2; applied 5; ok 5; ok 6; c1 write 7 =2 of 6; applied 7; ok 7; c1 write 8 =3 of 1; applied 8; ok 8", lost},
		{"what its own grant has read counts first", "c1 read 3 of 1; applied 3; ok 3; c2 write 5 =1 of 2; applied 5; ok 5; c1 acquire 6; ok 6; c1 read 8 of 6; applied 8 =1; ok 8 =1; c1 write 7 =2 of 6 upon 3; applied 7; ok 7", none},
	} {
		r, err := Check(script(t, locks+c.script), Options{})
		if err != nil {
			t.Errorf("%s: %v", c.rule, err)
			continue
		}
		got := ""
		for _, f := range r.Findings {
			if f.Kind == LostUpdate {
				got = shown(Report{Findings: []Finding{f}})
				if len(f.Windows) == 0 || f.Seqs[0] < 1 || f.Text == "" || f.To < f.From {
					t.Errorf("%s: witness %+v", c.rule, f)
				}
			}
		}
		if got != c.want || len(r.Unchecked) > 0 {
			t.Errorf("%s: found %q, want %q; unchecked %v", c.rule, got, c.want, r.Unchecked)
		}
	}
}

// A read that the effects do not explain is a contradiction.
func TestStaleReadsAreRefused(t *testing.T) {
	const text = "c1 acquire 1; ok 1; c1 write 3 =1 of 1; applied 3; ok 3; c1 read 4 of 1; applied 4 =0; ok 4 =0"
	if _, err := Check(script(t, text), Options{}); !errors.Is(err, ErrMalformed) {
		t.Errorf("%v", err)
	}
}

// The sentence says what the client did, and not that it read what it had written.
func TestLostUpdatesSayWhatWasKnown(t *testing.T) {
	const locks = "c1 acquire 1; ok 1; expire 1; c2 acquire 2; ok 2; expire 2; "
	for text, want := range map[string]string{
		"c1 read 3 of 1; applied 3; ok 3; c2 write 4 =1 of 2; applied 4; c1 write 6 =2 of 1; applied 6":                                  `c1 (grant 1) read 0 from "r" and wrote 2 over the 1 that c2 (grant 2) had written there.`,
		"c1 write 4 =1 of 1; applied 4; ok 4; c2 write 5 =3 of 2; applied 5; c1 write 6 =2 of 1; applied 6":                              `c1 (grant 1) had written 1 to "r" itself and wrote 2 over the 3 that c2 (grant 2) had written there.`,
		"c1 read 3 of 1; applied 3; ok 3; c2 write 5 =1 of 2; applied 5; ok 5; c1 acquire 6; ok 6; c1 write 7 =2 of 6 upon 3; applied 7": `c1 read 0 from "r" under grant 1 and wrote 2 under grant 6 over the 1 that c2 (grant 2) had written there.`,
	} {
		r, err := Check(script(t, locks+text), Options{})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(r.Findings, func(f Finding) bool { return f.Kind == LostUpdate })
		if i < 0 || r.Findings[i].Text != want {
			t.Errorf("%+v, want %s", r.Findings, want)
		}
	}
}
