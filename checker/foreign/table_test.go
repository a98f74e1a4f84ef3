package foreign

import (
	"bytes"
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"
)

// table has histories that the text of docs/histories.md decides. Its notation is that of [told].
var table = []struct{ models, history, verdict string }{
	// Outcomes.
	{"all", "A acquire 1, B acquire 2", "bad"},
	{"all", "A acquire 1, A release, B acquire 2", "good"},
	{"all", "A+ acquire, B acquire 1, A ok acquire 2, B release", "bad"},
	{"all", "A+ acquire, B acquire 1, B release, A ok acquire 2", "good"},
	{"all", "A+ acquire, A fail acquire, B acquire 1", "good"},
	{"all", "A acquire 1, A+ release, A fail release, B acquire 2", "bad"},
	{"all", "A+ acquire, A info acquire, B acquire 1", "good"},
	{"all", "A release", "bad"},
	{"all", "A extend", "bad"},
	{"all", "A acquire 1, A release, A release", "bad"},
	// Unknown outcomes: at most once, after the call, not bounded by the info.
	{"all", "A acquire 1, A+ release, A info release, B acquire 2, B release, C acquire 3", "good"},
	{"all", "A acquire 1, A+ release, A info release, B acquire 2, C acquire 3", "bad"},
	{"all", "A acquire 1, B acquire 2, A+ release", "bad"},
	{"all", "A acquire 1, A+ release, B acquire 2", "good"},
	{"all", "A acquire 1, A+ extend, A info extend, A release, B acquire 2", "good"},
	{"mutex", "A+ acquire, A info acquire, B acquire, B release, B release", "good"},
	{"mutex", "A+ acquire, A info acquire, B acquire, B release, B release, B release", "bad"},
	// An unknown operation takes effect before the next ok of its process does, or never.
	{"owner reentrant fenced reentrant-fenced", "A acquire 1, A+ release, A info release, A extend, B acquire 2", "bad"},
	{"mutex", "A acquire, A+ release, A info release, A extend, B acquire", "good"},
	{"owner reentrant fenced reentrant-fenced", "A acquire 1, A+ release, A info release, A acquire/s 1, B acquire 2", "good"},
	{"owner reentrant fenced reentrant-fenced lease", "A+ acquire, A info acquire, A release", "good"},
	{"owner reentrant fenced reentrant-fenced lease", "A+ acquire, A info acquire, B acquire 1, B release, A release", "good"},
	{"owner reentrant fenced reentrant-fenced lease", "A+ acquire, A info acquire, A release, A release", "bad"},
	{"owner reentrant fenced reentrant-fenced lease", "A+ acquire, A info acquire, A+ acquire, A info acquire, A release, B release", "bad"},
	{"owner fenced", "A acquire 1, A+ release, A info release, A acquire 2, B+ acquire, A+ extend, A ok extend, B ok acquire 3", "bad"},
	{"owner fenced", "A acquire 1, A+ release, A info release, A+ extend, A fail extend, B acquire 2", "good"},
	{"owner fenced lease", "A acquire 1, B release", "bad"},
	{"owner fenced lease", "A acquire 1, B extend", "bad"},
	{"mutex", "A acquire, B extend, B release, C acquire", "good"},
	// Each lock alone; a history is good if every lock is.
	{"all", "A acquire 1, B acquire/s 1", "good"},
	{"all", "A acquire 1, A release, B acquire/s 1, C acquire/s 2", "bad"},
	// A holder that acquires again.
	{"mutex owner fenced lease", "A acquire 1, A acquire 2", "bad"},
	{"reentrant reentrant-fenced", "A acquire 1, A acquire 1, A release, A release, B acquire 2", "good"},
	{"reentrant reentrant-fenced", "A acquire 1, A acquire 1, A release, B acquire 2", "bad"},
	{"reentrant reentrant-fenced", "A acquire 1, A acquire 1, A release, A release, A release", "bad"},
	{"reentrant reentrant-fenced", "A acquire 1, A+ acquire, A info acquire, A release, A release, B acquire 2", "good"},
	{"reentrant reentrant-fenced", "A acquire 1, A extend, A extend, A release, B acquire 2", "good"},
	{"reentrant reentrant-fenced", "A acquire 1, B extend", "bad"},
	{"reentrant reentrant-fenced", "A acquire 1, B release", "bad"},
	// Tokens.
	{"fenced", "A acquire 5, A release, B acquire 5", "bad"},
	{"fenced", "A acquire 5, A release, B acquire 4", "bad"},
	{"fenced", "A acquire 5, A release, B acquire 6", "good"},
	{"fenced", "A acquire -7, A release, B acquire -6", "good"},
	{"fenced", "A acquire -7, A release, B acquire -8", "bad"},
	{"fenced", "A acquire 5, A release, B acquire -1, B release, A acquire 6", "good"},
	{"fenced", "A acquire 5, A release, B acquire -1, B release, A acquire 7", "good"},
	{"fenced", "A acquire -1, A release, B acquire -9223372036854775808", "good"},
	{"fenced", "A acquire 9223372036854775807, A release, B acquire -1", "good"},
	{"fenced", "A acquire -9223372036854775808, A release, B acquire 9223372036854775807", "good"},
	{"fenced", "A acquire 9223372036854775807, A release, B acquire -9223372036854775808", "bad"},
	{"fenced", "A+ acquire, B acquire 6, B release, A ok acquire 5", "bad"},
	{"fenced", "A+ acquire, B acquire 6, B release, A ok acquire 7", "good"},
	{"fenced", "A acquire 5, A release, B+ acquire, B info acquire, B release, A acquire 6", "good"},
	{"fenced", "A acquire 5, A release, B+ acquire, B info acquire, A acquire 6", "good"},
	{"reentrant-fenced", "A acquire 5, A acquire 6", "bad"},
	{"reentrant-fenced", "A acquire 5, A acquire 5, A release, A acquire -1, A acquire 5", "good"},
	{"reentrant-fenced", "A acquire 5, A release, A acquire 5", "bad"},
	{"reentrant-fenced", "A acquire 5, A release, A acquire -1, A acquire 6, A acquire -1", "good"},
	{"reentrant-fenced", "A acquire 5, A release, A acquire -1, A acquire 5", "bad"},
	{"reentrant-fenced", "A acquire 5, A release, B acquire -1, B acquire -1, B release, B release, A acquire 7", "good"},
	{"reentrant-fenced", "A acquire 5, A release, B acquire -1, B acquire -1, B release, B release, A acquire 5", "bad"},
	{"reentrant-fenced", "A+ acquire, A info acquire, A acquire 5, A release, A release, B acquire 5", "bad"},
	{"reentrant-fenced", "A+ acquire, A info acquire, A acquire 5, A release, A release, B acquire 6", "good"},
	// Leases of six nanoseconds, from the call.
	{"lease", "A acquire @0, B acquire @5", "bad"},
	{"lease", "A acquire @0, B acquire @6", "good"},
	{"lease", "A acquire @0, A acquire @6", "good"},
	{"lease", "A+ acquire @0, A ok acquire @3, B acquire @6", "good"},
	{"lease", "A acquire @0, B+ acquire @5, B ok acquire @6", "good"},
	{"lease", "A acquire @0, A extend @4, B acquire @9", "bad"},
	{"lease", "A acquire @0, A extend @4, B acquire @10", "good"},
	{"lease", "A acquire @0, A+ extend @4, A info extend @4, B acquire @6", "good"},
	{"lease", "A acquire @0, A extend @20, B acquire @25", "bad"},
	{"lease", "A acquire @0, A release @20, B acquire @20", "good"},
	{"lease", "A acquire @0, B acquire @7, A release @8", "bad"},
	{"lease", "A acquire @0, B acquire @7, A extend @8", "bad"},
	{"lease", "A acquire @0, B acquire @7, B release @8, A release @9", "bad"},
	{"lease", "A acquire @0, B acquire @7, A+ acquire @7, A info acquire @7, A release @13", "good"},
	{"lease", "A acquire @0, B acquire @7, A+ acquire @7, A info acquire @7, A release @12", "bad"},
	{"lease", "A acquire @0, B acquire @7, A+ acquire @7, A ok acquire @13, A release @13", "good"},
	// A grant whose lease is over when its acquire returns still needed the lock.
	{"lease", "A acquire @0, B+ acquire @0, B ok acquire @5, A release @5", "bad"},
	{"lease", "A acquire @0, B+ acquire @3, A extend @5, B ok acquire @10, A release @11", "bad"},
	{"lease", "A acquire @0, B+ acquire @3, A extend @5, B ok acquire @11, A+ acquire @11, A ok acquire @11, A release @11", "good"},
	// Leases and tokens together: who takes the lock over after the lease has a higher token, whoever crashed or was
	// overtaken.
	{"fenced-lease", "A acquire 5 @0, B acquire 6 @6", "good"},
	{"fenced-lease", "A acquire 5 @0, B acquire 6 @5", "bad"},
	{"fenced-lease", "A acquire 5 @0, B acquire 5 @6", "bad"},
	{"fenced-lease", "A acquire 5 @0, B acquire 4 @6", "bad"},
	{"fenced-lease", "A acquire 5 @0, A+ release @9, A fail release, B acquire 6 @9", "good"},
	{"fenced-lease", "A acquire 5 @0, B acquire 6 @6, A release @7", "bad"},
	{"fenced-lease", "A acquire 5 @0, A extend @4, B acquire 6 @9", "bad"},
	{"fenced-lease", "A acquire 5 @0, B acquire -1 @6, A acquire 7 @12", "good"},
	{"fenced-lease", "A acquire 5 @0, B acquire -1 @6, A acquire 5 @12", "bad"},
	// Two grants under way at once come in the order of their tokens, which their leases may forbid.
	{"fenced-lease", "A+ acquire @0, B+ acquire @0, B ok acquire 6 @20, A ok acquire 5 @20", "good"},
	{"fenced-lease", "A+ acquire @0, B+ acquire @12, B ok acquire 6 @20, A ok acquire 5 @20", "good"},
	{"fenced-lease", "A+ acquire @0, B+ acquire @2, B ok acquire 6 @3, A ok acquire 5 @30", "bad"},
	// A length of its own counts, and for an extend that of its acquire.
	{"lease fenced-lease", "A acquire 5 @0 ttl=2, B acquire 6 @2", "good"},
	{"lease fenced-lease", "A acquire 5 @0 ttl=2, B acquire 6 @1", "bad"},
	{"lease fenced-lease", "A acquire 5 @0 ttl=20, B acquire 6 @19", "bad"},
	{"lease fenced-lease", "A acquire 5 @0 ttl=2, A extend @1, B acquire 6 @3", "good"},
	{"lease fenced-lease", "A acquire 5 @0 ttl=2, A extend @1 ttl=9, B acquire 6 @9", "bad"},
	{"lease fenced-lease", "A acquire 5 @0 ttl=2, A+ acquire ttl=30, A fail acquire, A extend @1, B acquire 6 @3", "good"},
	// A lease beyond the largest time does not end.
	{"lease", "A acquire @9223372036854775801, B acquire @9223372036854775807", "good"},
	{"lease", "A acquire @9223372036854775802, B acquire @9223372036854775807", "bad"},
	{"lease", "A acquire @9223372036854775802, A release @9223372036854775807, B acquire @9223372036854775807", "good"},
	// What is no history.
	{"all", "", "refused"},
	{"all", "A+ acquire, A+ release", "refused"},
	{"all", "A+ acquire, A+ acquire/s", "refused"},
	{"all", "A ok acquire 1", "refused"},
	{"all", "A+ acquire, A ok release", "refused"},
	{"all", "A+ acquire, A ok acquire/s 1", "refused"},
	{"all", "A+ acquire, A fail acquire, A fail acquire", "refused"},
	{"all", "A+ acquire, A info acquire, A ok acquire 1", "refused"},
	{"lease fenced-lease", "A acquire 1 @5, B acquire 2 @4", "refused"},
	{"fenced reentrant-fenced fenced-lease", "A acquire", "refused"},
	{"fenced reentrant-fenced", "A acquire 9223372036854775808", "refused"},
	{"fenced reentrant-fenced", "A acquire -9223372036854775809", "refused"},
}

// told reads the notation of the table: "A acquire 5 @3" is a call of A at 3 ns and its return with ok and the token 5,
// "A+ acquire" only the call, "A info acquire" only what became of it. Without a time it is that of the one before.
// "acquire/s" is on the lock s instead of r. A token is left out in models that have none.
func told(t testing.TB, notation string, tokens bool) []byte {
	type event struct {
		drawnLine
		Value *big.Int `json:"value,omitempty"`
	}
	events, now := []event{}, int64(0)
	for _, part := range strings.Split(notation, ", ") {
		words := strings.Fields(part)
		if len(words) == 0 {
			continue
		}
		e := event{drawnLine: drawnLine{Process: strings.TrimSuffix(words[0], "+"), Lock: "r"}}
		types := []string{"invoke", "ok"}
		switch words[1] {
		case "ok", "fail", "info":
			types, words = words[1:2], words[1:]
		default:
			if strings.HasSuffix(words[0], "+") {
				types = types[:1]
			}
		}
		does, lock, elsewhere := strings.Cut(words[1], "/")
		if e.Func = does; elsewhere {
			e.Lock = lock
		}
		var token *big.Int
		ttl := int64(0)
		for _, word := range words[2:] {
			var understood bool
			if length, isTTL := strings.CutPrefix(word, "ttl="); isTTL {
				var err error
				ttl, err = strconv.ParseInt(length, 10, 64)
				understood = err == nil
			} else if at, isTime := strings.CutPrefix(word, "@"); isTime {
				var err error
				now, err = strconv.ParseInt(at, 10, 64)
				understood = err == nil
			} else {
				token, understood = new(big.Int).SetString(word, 10)
			}
			if !understood {
				t.Fatalf("%q: what is %q?", notation, word)
			}
		}
		for _, e.Type = range types {
			e.TTL = ttl
			if e.Time, e.Index, e.Value = now, len(events), nil; e.Type == "ok" && tokens {
				e.Value = token
			}
			events = append(events, e)
		}
	}
	text, err := json.Marshal(events)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestTheTable compares the table with the product and with the definition.
func TestTheTable(t *testing.T) {
	for _, c := range table {
		models := strings.Fields(c.models)
		if c.models == "all" {
			models = nil
			for _, m := range kinds() {
				models = append(models, string(m))
			}
		}
		for _, name := range models {
			m := Model(name)
			text, verdict := told(t, c.history, m == fencedLease || m.fenced()), map[bool]string{true: "good", false: "bad"}
			r, err := check(bytes.NewReader(text), optionsOf(m))
			if got := "refused"; err != nil && got != c.verdict || err == nil && verdict[r.Good()] != c.verdict {
				t.Errorf("%s of %s: %v, %v, want %s", m, c.history, r, err, c.verdict)
			}
			var lines []drawnLine
			if json.Unmarshal(text, &lines) != nil || c.verdict == "refused" || lines[len(lines)-1].Time > math.MaxInt64/2 {
				continue // the definition takes histories only, and its times end
			}
			if got := verdict[definition(m, lines, "r") && definition(m, lines, "s")]; got != c.verdict {
				t.Errorf("%s of %s: by definition %s, want %s", m, c.history, got, c.verdict)
			}
		}
	}
}
