package checker

import "testing"

func TestHolds(t *testing.T) {
	const none, one = "", "lease-overlap r x1"
	checkRules(t, []ruleCase{
		{"one after the other, by release", "c1 acquire 1; c2 acquire 2; ok 1; c1 release 3 of 1; ok 2; ok 3", Options{}, none},
		{"granted before the release is called", "c1 acquire 1; c2 acquire 2; ok 1; ok 2; c1 release 3 of 1; ok 3", Options{}, one},
		{"one after the other, by expiry", "c1 acquire 1; ok 1; expire 1; c2 acquire 2; ok 2", Options{}, none},
		{"granted before the expiry", "c1 acquire 1; ok 1; c2 acquire 2; ok 2; expire 1", Options{}, one},
		{"one after the other, by crash", "c1 acquire 1; ok 1; crash c1; c2 acquire 2; ok 2", Options{}, none},
		{"granted before the crash", "c1 acquire 1; ok 1; c2 acquire 2; ok 2; crash c1", Options{}, one},
		{"the crash of another process", "c1 acquire 1; ok 1; crash c3; c2 acquire 2; ok 2", Options{}, one},
		{"the expiry of another grant", "c1 acquire 1; ok 1; expire 1; c1 acquire 2; ok 2; expire 1; c2 acquire 3; ok 3", Options{}, one},
		{"a pause does not end belief", "c1 acquire 1; ok 1; fault pause c1; c2 acquire 2; ok 2", Options{}, one},
		{"at one true time, in order", "@5; c1 acquire 1; ok 1; @9; expire 1; @9; c2 acquire 2; @9; ok 2", Options{}, none},
		{"at one true time, out of order", "@5; c1 acquire 1; ok 1; c2 acquire 2; @9; ok 2; @9; expire 1", Options{}, one},
		{"a release that fails still ends belief", "c1 acquire 1; ok 1; c1 release 2 of 1; unknown 2; c2 acquire 3; ok 3", Options{}, none},

		{"expiry before the return: no hold", "c1 acquire 1; c2 acquire 2; expire 1; ok 2; ok 1", Options{}, none},
		{"expiry after the return", "c1 acquire 1; c2 acquire 2; ok 2; ok 1; expire 1", Options{}, one},
		{"an extend after an expiry before the return", "c1 acquire 1; expire 1; ok 1; c2 acquire 2; ok 2; c1 extend 3 of 1; ok 3", Options{}, one},

		{"an extend acknowledged after the expiry opens a window", "c1 acquire 1; ok 1; c1 extend 2 of 1; expire 1; ok 2; c2 acquire 3; ok 3", Options{}, one},
		{"not from its call", "c1 acquire 1; ok 1; c1 extend 2 of 1; expire 1; c2 acquire 3; ok 3; c2 release 4 of 3; ok 2", Options{}, none},
		{"which the next expiry ends", "c1 acquire 1; ok 1; c1 extend 2 of 1; expire 1; ok 2; expire 1; c2 acquire 3; ok 3", Options{}, none},
		{"a failed extend opens none", "c1 acquire 1; ok 1; c1 extend 2 of 1; expire 1; fail 2; c2 acquire 3; ok 3", Options{}, none},
		{"nor an unknown one", "c1 acquire 1; ok 1; c1 extend 2 of 1; expire 1; unknown 2; c2 acquire 3; ok 3", Options{}, none},
		{"nor one acknowledged after the release was called", "c1 acquire 1; ok 1; c1 extend 2 of 1; c1 release 3 of 1; ok 2; c2 acquire 4; ok 4", Options{}, none},
		{"an extend within the window changes nothing", "c1 acquire 1; ok 1; c1 extend 2 of 1; ok 2; expire 1; c2 acquire 3; ok 3", Options{}, none},

		{"a failed acquire is no hold", "c1 acquire 1; fail 1; c2 acquire 2; ok 2", Options{}, none},
		{"nor one that never returns", "c1 acquire 1; c2 acquire 2; ok 2", Options{}, none},
		{"nor one of unknown outcome", "c1 acquire 1; unknown 1; c2 acquire 2; ok 2", Options{}, none},
		{"unknown, a release confirms it inside another's hold", "c1 acquire 1; unknown 1; c2 acquire 2; ok 2; c1 release 3 of 1; ok 3", Options{}, one},
		{"unknown, an extend confirms it inside another's hold", "c1 acquire 1; unknown 1; c2 acquire 2; ok 2; c1 extend 3 of 1; ok 3", Options{}, one},
		{"never returned, a release confirms it inside another's hold", "c1 acquire 1; c2 acquire 2; ok 2; c1 release 3 of 1; ok 3", Options{}, one},
		{"a release that failed confirms nothing", "c1 acquire 1; unknown 1; c2 acquire 2; ok 2; c1 release 3 of 1; fail 3", Options{}, none},
		{"confirmed perhaps before the other's hold", "c1 acquire 1; unknown 1; c2 acquire 2; c1 release 3 of 1; ok 2; ok 3", Options{}, none},
		{"confirmed perhaps after the other's hold", "c1 acquire 1; unknown 1; c2 acquire 2; ok 2; c1 release 3 of 1; expire 2; ok 3", Options{}, none},
		{"confirmed perhaps between two holds", "c1 acquire 1; unknown 1; c2 acquire 2; ok 2; c1 release 3 of 1; expire 2; c2 acquire 4; ok 4; ok 3", Options{}, none},
		{"two confirmed at once", "c1 acquire 1; unknown 1; c2 acquire 2; unknown 2; c1 release 3 of 1; c2 release 4 of 2; ok 3; ok 4", Options{}, none},

		{"one process twice, not re-entrant", "c1 acquire 1; ok 1; c1 acquire 2; ok 2", Options{}, one},
		{"one process twice, re-entrant", "c1 acquire 1; ok 1; c1 acquire 2; ok 2", Options{Reentrant: true}, none},
		{"re-entrant holds count as one", "c1 acquire 1; ok 1; c1 acquire 2; ok 2; c1 release 3 of 2; c2 acquire 4; ok 4", Options{Reentrant: true}, one},
		{"until the last is released", "c1 acquire 1; ok 1; c1 acquire 2; ok 2; c1 release 3 of 1; c1 release 4 of 2; c2 acquire 5; ok 5", Options{Reentrant: true}, none},
		{"whichever that is", "c1 acquire 1; ok 1; c1 acquire 2; ok 2; c1 release 3 of 1; c2 acquire 4; ok 4", Options{Reentrant: true}, one},
		{"re-entrant, confirmed inside its own hold", "c1 acquire 1; unknown 1; c1 acquire 2; ok 2; c1 release 3 of 1; ok 3", Options{Reentrant: true}, none},

		{"every hold that begins inside another counts", "c1 acquire 1; ok 1; c2 acquire 2; ok 2; c3 acquire 3; ok 3; expire 2; expire 3; c2 acquire 4; ok 4", Options{}, "lease-overlap r x3"},
		{"the holds of a failed lock that did not overlap do not", "c1 acquire 1; ok 1; c2 acquire 2; ok 2; expire 1; expire 2; c3 acquire 3; ok 3", Options{}, one},
	})
}

func TestTheWitnessIsTheFirstOverlap(t *testing.T) {
	r, err := Check(script(t, `
		c1 acquire 1; ok 1; expire 1
		c1 acquire 2; ok 2
		c2 acquire 3; ok 3; expire 2; expire 3
		c1 acquire 4; c2 acquire 5; ok 4; ok 5`), Options{})
	if err != nil || len(r.Findings) != 1 {
		t.Fatal(err, r.Findings)
	}
	f := r.Findings[0]
	if f.Count != 2 || f.Windows[0].Grant != 2 || f.Windows[1].Grant != 3 || f.FromSeq != 7 || f.ToSeq != 8 {
		t.Errorf("%+v", f)
	}
}

func TestTheWitnessOfMergedHoldsIsTheOneThatIsOn(t *testing.T) {
	r, err := Check(script(t, `c1 acquire 1; ok 1; c1 acquire 2; ok 2; c1 release 3 of 1; c2 acquire 4; ok 4; expire 2`), Options{Reentrant: true})
	if err != nil || len(r.Findings) != 1 {
		t.Fatal(err, r.Findings)
	}
	if w := r.Findings[0].Windows; w[0].Grant != 2 || w[1].Grant != 4 {
		t.Errorf("%+v", w)
	}
}

func TestTheWitnessIsAConfirmationIfThatCameFirst(t *testing.T) {
	const confirmed, overlap = "c1 release 3 of 1; ok 3; ", "c3 acquire 4; ok 4; "
	for text, second := range map[string]int{confirmed + overlap: 1, overlap + confirmed: 4} {
		r, err := Check(script(t, "c1 acquire 1; unknown 1; c2 acquire 2; ok 2; "+text), Options{})
		if err != nil || len(r.Findings) != 1 {
			t.Fatal(err, r.Findings)
		}
		if f := r.Findings[0]; f.Windows[0].Grant != 2 || f.Windows[1].Grant != second || f.Count != 2 {
			t.Errorf("%s: %+v", text, f)
		}
	}
}
