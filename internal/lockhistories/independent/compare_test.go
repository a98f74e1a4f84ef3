package independent

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"redlocksim/checker/foreign"
	"redlocksim/internal/lockhistories"
)

var (
	histories = flag.Int("histories", 3000, "how many random histories to compare, for each model")
	seed      = flag.Uint64("seed", 1, "the same seed draws the same histories")
)

// product gives the verdict of redlocksim check.
func product(text []byte, model string, lease int64) (good bool, err error) {
	o := foreign.Options{Model: foreign.Model(model), Unit: time.Nanosecond}
	if model == lockhistories.FencedLease {
		o.Model = foreign.Fenced
	}
	if d := definitions(lease)[model]; d.times {
		o.Lease = time.Duration(lease)
	}
	r, err := foreign.Check(bytes.NewReader(text), o)
	if err != nil {
		return false, err
	}
	return r.Good(), nil
}

func TestTheProductDecidesTheSame(t *testing.T) {
	compareTable(t, func(text []byte, model string) (bool, error) { return product(text, model, tableLease) })
}

func TestEveryModelIsCompared(t *testing.T) {
	product, here := []string{lockhistories.FencedLease}, []string{}
	for _, m := range foreign.Models() {
		product = append(product, string(m))
	}
	for name := range definitions(tableLease) {
		here = append(here, name)
	}
	slices.Sort(product)
	slices.Sort(here)
	if !slices.Equal(product, here) || len(names) != len(here) {
		t.Errorf("the product has %v, the text %v", product, here)
	}
}

// kinds are the ways in which histories are drawn.
var kinds = []struct {
	name string
	draw func(random *rand.Rand, model string) ([]byte, error)
}{
	{"of a server", func(random *rand.Rand, model string) ([]byte, error) {
		return json.Marshal(lockhistories.Draw(model, func(n int, _ string) int { return random.IntN(n) }))
	}},
	{"scattered", func(random *rand.Rand, model string) ([]byte, error) {
		return json.Marshal(scatter(random, hasTokens(model)))
	}},
	{"right but for one mistake", func(random *rand.Rand, model string) ([]byte, error) {
		events, _ := mistaken(random, definitions(lockhistories.Lease)[model])
		return json.Marshal(events)
	}},
}

// shares counts what the histories of one kind were like.
type shares struct{ all, good, unknown, reused, overlapping, equalTimes, untold int }

func (s *shares) add(text []byte, good bool) error {
	var events []event
	if err := json.Unmarshal(text, &events); err != nil {
		return err
	}
	var unknown, reused, overlapping, equal, untold bool
	gaveUp, underWay := map[[2]string]bool{}, map[string]bool{}
	for i, e := range events {
		on := [2]string{e.Process, e.Lock}
		switch e.Type {
		case "invoke":
			overlapping = overlapping || len(underWay) > 0
			underWay[e.Process] = true
		case "info":
			if e.Func != "extend" {
				unknown, gaveUp[on] = true, true
			}
		case "ok":
			reused = reused || gaveUp[on]
			untold = untold || e.Value != nil && e.Value.Int64() == -1
		}
		if e.Type != "invoke" {
			delete(underWay, e.Process)
		}
		equal = equal || i > 0 && e.Time == events[i-1].Time
	}
	for _, count := range []struct {
		of *int
		is bool
	}{{&s.all, true}, {&s.good, good}, {&s.unknown, unknown || len(underWay) > 0}, {&s.reused, reused},
		{&s.overlapping, overlapping}, {&s.equalTimes, equal}, {&s.untold, untold}} {
		if count.is {
			*count.of++
		}
	}
	return nil
}

// String gives the shares in percent.
func (s *shares) String() string {
	percent := func(n int) float64 { return 100 * float64(n) / float64(s.all) }
	return fmt.Sprintf("%d histories: %.1f %% good, %.1f %% bad, %.1f %% with an unknown acquire or release or one under way "+
		"at the end, %.1f %% with an ok of the same process after it, %.1f %% with overlapping operations, %.1f %% with equal "+
		"times, %.1f %% with a token not told", s.all, percent(s.good), percent(s.all-s.good), percent(s.unknown),
		percent(s.reused), percent(s.overlapping), percent(s.equalTimes), percent(s.untold))
}

func TestAServerThatDoesWhatTheTextSaysIsGood(t *testing.T) {
	for _, model := range names {
		d := definitions(lockhistories.Lease)[model]
		for i := range 1000 {
			events, right := mistaken(rand.New(rand.NewPCG(*seed, uint64(i))), d)
			text, err := json.Marshal(events)
			if err != nil {
				t.Fatal(err)
			}
			if good, err := d.judge(text); right && !good {
				t.Errorf("%s: bad (%v): %s", model, err, text)
			}
		}
	}
}

// TestRandomHistoriesAreJudgedAlike draws a third of the histories in each of the ways, each from the seed and its number.
func TestRandomHistoriesAreJudgedAlike(t *testing.T) {
	for _, model := range names {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			counted, differences := make([]shares, len(kinds)), 0
			for i := range *histories {
				kind := i % len(kinds)
				text, err := kinds[kind].draw(rand.New(rand.NewPCG(*seed, uint64(i))), model)
				if err != nil {
					t.Fatal(err)
				}
				good, differ, err := compare(text, model)
				if err == nil {
					err = counted[kind].add(text, good)
				}
				if err != nil {
					t.Fatalf("history %d: %v\n%s", i, err, text)
				}
				if differ {
					if differences++; differences <= 3 {
						t.Errorf("history %d: good by the text: %v, by the product: %v; smallest such part:\n%s",
							i, good, !good, smallest(text, model))
					}
				}
			}
			t.Logf("%d differences", differences)
			for i, k := range kinds {
				t.Logf("%s: %v", k.name, &counted[i])
				counted[i].mustBeMixed(t, k.name, hasTokens(model))
			}
		})
	}
}

// mustBeMixed fails a test whose histories had little of what makes verdicts hard.
func (s *shares) mustBeMixed(t *testing.T, kind string, tokens bool) {
	tenth, fifth, third := s.all/10, s.all/5, s.all/3
	if s.good < tenth || s.all-s.good < tenth || s.unknown < third || s.reused < fifth || s.overlapping < third ||
		s.equalTimes < third || tokens && s.untold < tenth {
		t.Errorf("%s: too little of something: %v", kind, s)
	}
}

// compare judges a history twice. good is the verdict by the text.
func compare(text []byte, model string) (good, differ bool, err error) {
	good, err = definitions(lockhistories.Lease)[model].judge(text)
	if err != nil {
		return false, false, fmt.Errorf("by the text: %w", err)
	}
	other, err := product(text, model, lockhistories.Lease)
	if err != nil {
		return false, false, fmt.Errorf("by the product: %w", err)
	}
	return good, good != other, nil
}

// smallest leaves out operations of a history, one by one, as long as the verdicts on it still differ.
func smallest(text []byte, model string) []byte {
	var events []event
	if json.Unmarshal(text, &events) != nil {
		return text
	}
	for i, e := range events {
		if e.Type != "invoke" {
			continue
		}
		var rest []event
		over := false
		for j, other := range events {
			if j >= i && other.Process == e.Process && !over {
				over = j > i
				continue
			}
			other.Index = len(rest)
			rest = append(rest, other)
		}
		shorter, err := json.Marshal(rest)
		if err != nil {
			return text
		}
		if _, differ, err := compare(shorter, model); err == nil && differ {
			return smallest(shorter, model)
		}
	}
	return text
}
