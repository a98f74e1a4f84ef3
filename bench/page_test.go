//go:build linux

package main

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   float64
	}{
		{nil, 0},
		{[]float64{7}, 7},
		{[]float64{9, 1}, 5},
		{[]float64{9, 1, 2}, 2},
		{[]float64{4, 100, 2, 1}, 3},
	} {
		if got := median(test.values); got != test.want {
			t.Errorf("%v: %v, want %v", test.values, got, test.want)
		}
	}
}

// who finds a contestant.
func who(t *testing.T, name string) *contestant {
	t.Helper()
	for i := range contestants {
		if contestants[i].name == name {
			return &contestants[i]
		}
	}
	t.Fatalf("there is no %s", name)
	return nil
}

// Figures that show what goes into a row: in the three rounds redlock is 3, 1 and 4 times as fast as the better redsync, which
// is not always the same one. The ratio of the medians would be 50/20 = 2.5.
func rounds(t *testing.T) ([]cell, [][]figures) {
	of := func(name string) cell {
		return cell{&conditions[0], false, 64, who(t, name)}
	}
	all := []cell{of("redlock"), of("redsync"), of("redsync, fail-fast"), {&conditions[0], false, 1, who(t, "redlock")}}
	took := func(micros float64) figures {
		return figures{micros: micros, p50: time.Duration(micros) * time.Millisecond, p99: 2 * time.Second, p999: 3 * time.Second, clientCPU: 7.25, serverCPU: 9, mallocs: 55.4, executed: 20, reads: 0.44, operations: 10}
	}
	failed := figures{failures: 2, waiting: 1, err: errors.New("why\n`not`")}
	return all, [][]figures{
		{took(20), took(60), took(90), failed},
		{took(50), took(70), took(50), failed},
		{took(10), took(40), took(41), failed},
	}
}

func TestRows(t *testing.T) {
	rows := rowsOf(rounds(t))
	if r := rows[0]; r.micros != 20 || r.speed != 3 || r.p50 != 20*time.Millisecond || r.operations != 30 || r.rounds != 3 {
		t.Errorf("redlock: %+v, %v times", r.figures, r.speed)
	}
	if r := rows[1]; r.micros != 60 || r.speed != 1 {
		t.Errorf("redsync: %+v, %v times", r.figures, r.speed)
	}
	if r := rows[2]; r.micros != 50 || r.speed != 40.0/41 {
		t.Errorf("redsync, fail-fast: %+v, %v times", r.figures, r.speed)
	}
	if r := rows[3]; r.micros != 0 || r.speed != 0 || r.rounds != 0 || r.failures != 6 || r.waiting != 3 || r.err == nil {
		t.Errorf("what failed: %+v, %v times", r.figures, r.speed)
	}
}

func TestSection(t *testing.T) {
	p := &page{rows: rowsOf(rounds(t))}
	// Rows are by how many are in parallel: cells() has them so.
	p.rows = append(p.rows[3:], p.rows[:3]...)
	var b strings.Builder
	for _, s := range p.sections() {
		p.section(&b, s, "speed")
	}
	const want = `
## Healthy, uncontended

All servers answer.

![healthy, uncontended](speed/healthy-uncontended.svg)

| in parallel | contestant | ops/s | µs/op | speed | p50 | p99 | p99.9 | client | servers | mallocs | executed | reads | given up | failed |
| --: | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |
| 1 | redlock | – | – | – | – | – | – | – | – | – | – | – | 3 | 6 |
| 64 | redlock | 50000 | 20 | 3 | 20 | 2000 | 3000 | 7.2 | 9 | 55 | 20 | 0.4 | 0 | 0 |
| 64 | redsync | 16667 | 60 | 1 | 60 | 2000 | 3000 | 7.2 | 9 | 55 | 20 | 0.4 | 0 | 0 |
| 64 | redsync, fail-fast | 20000 | 50 | 0.98 | 50 | 2000 | 3000 | 7.2 | 9 | 55 | 20 | 0.4 | 0 | 0 |

First failure of redlock, 1 in parallel: ` + "`why 'not'`\n"
	if b.String() != want {
		t.Errorf("page\n%s\nwant\n%s", b.String(), want)
	}
}

// The floor is that of the same load, and without one nothing is compared with it.
func TestFloor(t *testing.T) {
	took := func(name string, parallel int, client, servers float64) row {
		return row{cell: cell{&conditions[0], false, parallel, who(t, name)}, figures: figures{clientCPU: client, serverCPU: servers}, rounds: 1}
	}
	p := &page{rows: []row{
		took("redlock", 1, 100, 100),
		took("redlock", 64, 30, 20), took("redsync", 64, 200, 120), took("redislock, one server", 64, 1, 1), took("bytes in batches", 64, 10, 16),
	}}
	var b strings.Builder
	p.floor(&b)
	const want = `
| 64 | redlock | 30 | 20 | 50 | 3 | 1.25 | 1.92 |
| 64 | redsync | 200 | 120 | 320 | 20 | 7.5 | 12.31 |
`
	if _, rows, _ := strings.Cut(b.String(), "--: |"); !strings.HasSuffix(rows, want) || strings.Count(rows, "\n") != 3 {
		t.Errorf("page\n%s\nwant at its end\n%s", b.String(), want)
	}
	b.Reset()
	p.rows = p.rows[:4]
	if p.floor(&b); b.Len() > 0 {
		t.Errorf("without a floor: %s", b.String())
	}
}

// What the process does in other conditions is not only the contestant's.
func TestSectionWithoutCounts(t *testing.T) {
	all, found := rounds(t)
	for i := range all {
		all[i].condition = &conditions[1]
	}
	p := &page{rows: rowsOf(all[:1], [][]figures{found[0][:1]})}
	var b strings.Builder
	p.section(&b, p.sections()[0], "speed")
	const want = `
| in parallel | contestant | ops/s | µs/op | speed | p50 | p99 | p99.9 | given up | failed |
| --: | --- | --: | --: | --: | --: | --: | --: | --: | --: |
| 64 | redlock | 50000 | 20 | – | 20 | 2000 | 3000 | 0 | 0 |
`
	if !strings.HasSuffix(b.String(), want) {
		t.Errorf("page\n%s\nwant at its end\n%s", b.String(), want)
	}
}

func TestChart(t *testing.T) {
	var b strings.Builder
	if err := writeChart(&b, rowsOf(rounds(t))); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">redlock<", ">redsync, fail-fast<", ">64<", ">p99, ms<", ">in parallel<"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("not in the chart: %s", want)
		}
	}
	if strings.Contains(b.String(), ">rueidislock, one server<") {
		t.Error("the legend has a contestant that was not measured")
	}
}

func TestDecades(t *testing.T) {
	for _, test := range []struct{ low, high, min, max float64 }{
		{20, 90, 10, 100}, {10, 100, 10, 100}, {10, 10, 10, 100}, {0.3, 1200, 0.1, 10000}, {math.Inf(1), math.Inf(-1), 1, 10},
	} {
		low, high := decades(test.low, test.high)
		if math.Abs(low/test.min-1) > 1e-9 || math.Abs(high/test.max-1) > 1e-9 {
			t.Errorf("%v to %v: %v to %v, want %v to %v", test.low, test.high, low, high, test.min, test.max)
		}
	}
}

func TestTrim(t *testing.T) {
	for _, test := range []struct {
		x        float64
		decimals int
		want     string
	}{
		{0, 1, "0"}, {10.04, 1, "10"}, {10.06, 1, "10.1"}, {100, 0, "100"}, {0.005, 2, "0.01"}, {1234.5, 2, "1234.5"},
	} {
		if got := trim(test.x, test.decimals); got != test.want {
			t.Errorf("%v with %d decimals: %s, want %s", test.x, test.decimals, got, test.want)
		}
	}
}

func TestShellWord(t *testing.T) {
	for text, want := range map[string]string{"200ms": "200ms", "a|b": "'a|b'", "it's": `'it'\''s'`} {
		if got := shellWord(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestProcessor(t *testing.T) {
	if got := processorOf([]byte("processor\t: 0\nmodel\t\t: 143\nmodel name\t: Some CPU @ 2GHz: fast\n")); got != "Some CPU @ 2GHz: fast" {
		t.Errorf("%q", got)
	}
	if got := processorOf(nil); got != "processor of unknown model" {
		t.Errorf("%q", got)
	}
}
