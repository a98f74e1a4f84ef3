package checker

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// visualised is what porcupine's page has of a partition.
type visualised struct {
	Partitions []struct {
		History []struct {
			ClientId                 int
			OriginalStart            string
			OriginalEnd, Description string
			Metadata                 string
		}
		PartialLinearizations [][]struct {
			Index            int
			StateDescription string
		}
	}
}

func visualise(t *testing.T, text string, o Options) visualised {
	t.Helper()
	var b, again bytes.Buffer
	h := script(t, text)
	if err := Visualize(&b, h, o); err != nil {
		t.Fatal(err)
	}
	if err := Visualize(&again, h, o); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Error("not the same page the second time")
	}
	_, block, found := strings.Cut(b.String(), "const data = ")
	if !found {
		t.Fatalf("no data in the page:\n%s", b.String()[max(0, b.Len()-500):])
	}
	var v visualised
	if err := json.NewDecoder(strings.NewReader(block)).Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// Two grants of which the second comes while the first is believed in: no order takes both, and the longest ones end
// with one of them.
func TestVisualizeAnOverlap(t *testing.T) {
	v := visualise(t, "c1 acquire 1; ok 1; c2 acquire 2; ok 2; expire 1; c2 release 3 of 2; ok 3", Options{})
	all := v.Partitions[0].History
	if len(v.Partitions) != 1 || len(all) != 4 {
		t.Fatalf("%+v", v)
	}
	if first := all[0]; first.Description != "acquire" || first.Metadata != "c1, grant 1" || first.OriginalStart != "1" || first.OriginalEnd != "2" || first.ClientId == all[2].ClientId {
		t.Errorf("%+v", all)
	}
	for _, order := range v.Partitions[0].PartialLinearizations {
		if len(order) >= len(all) {
			t.Errorf("an order takes all: %+v", order)
		}
	}
	if text := fmt.Sprint(v); !strings.Contains(text, "held by c1 (grant 1)") {
		t.Errorf("no state has c1's grant: %s", text)
	}
}

func TestVisualizeWithoutAnOverlap(t *testing.T) {
	v := visualise(t, "c1 acquire 1; ok 1; expire 1; c2 acquire 2; ok 2", Options{})
	if orders := v.Partitions[0].PartialLinearizations; len(orders) != 1 || len(orders[0]) != 3 || orders[0][2].StateDescription != "held by c2 (grant 2)" {
		t.Errorf("%+v", orders)
	}
}

// Of several resources, the one that breaks is shown.
func TestVisualizeTheResourceThatBreaks(t *testing.T) {
	v := visualise(t, "c1 acquire 1 a; ok 1; expire 1; c1 acquire 2 b; ok 2; c2 acquire 3 b; ok 3", Options{})
	if all := v.Partitions[0].History; len(all) != 2 || all[0].Metadata != "c1, grant 2" {
		t.Errorf("%+v", all)
	}
}

func TestWhatIsNotVisualised(t *testing.T) {
	many := ""
	for i := range maxVisual {
		many += fmt.Sprintf("c1 acquire %d; ok %d; expire %d;", i+1, i+1, i+1)
	}
	for name, c := range map[string]struct {
		text string
		o    Options
	}{
		"empty": {"", Options{}}, "nobody holds it": {"c1 acquire 1; fail 1", Options{}}, "too much": {many, Options{}},
		"porcupine is off": {"c1 acquire 1; ok 1", Options{MaxOperations: -1}},
	} {
		var b bytes.Buffer
		if err := Visualize(&b, script(t, c.text), c.o); !errors.Is(err, ErrNotVisual) || b.Len() > 0 {
			t.Errorf("%s: %v, %d bytes", name, err, b.Len())
		}
	}
	if err := Visualize(&bytes.Buffer{}, script(t, "c1 acquire 1; ok 1; ok 1"), Options{}); !errors.Is(err, ErrMalformed) {
		t.Errorf("two returns: %v", err)
	}
}
