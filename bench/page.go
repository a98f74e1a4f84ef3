//go:build linux

package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// page is all that was measured.
type page struct {
	machine  machine
	command  string
	rounds   int
	duration time.Duration // of a cell
	rows     []row
	traffic  []trafficRow
	renewals []renewal
	renewing time.Duration // how long each renewal was measured
}

// trafficRow is what a contestant sends for each lock and unlock.
type trafficRow struct {
	contestant *contestant
	parallel   int
	operations int
	traffic
}

// section is the rows of one condition and kind of load.
type section struct {
	condition *condition
	contended bool
	rows      []row
}

// sections are in the order of the conditions; their rows by how many are in parallel, and then as the contestants.
func (p *page) sections() (all []section) {
	for i := range conditions {
		for _, contended := range []bool{false, true} {
			s := section{condition: &conditions[i], contended: contended}
			for _, r := range p.rows {
				if r.condition == s.condition && r.contended == contended {
					s.rows = append(s.rows, r)
				}
			}
			if s.rows != nil {
				all = append(all, s)
			}
		}
	}
	return all
}

func (s section) title() string { return s.condition.name + ", " + kindOf(s.contended) }

func (s section) file() string {
	return strings.NewReplacer(" ", "-", ",", "").Replace(s.title()) + ".svg"
}

// write writes the page and its charts: those into a folder beside it that has its name.
func (p *page) write(path string) error {
	folder := strings.TrimSuffix(path, filepath.Ext(path))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, s := range p.sections() {
		if err := writeFile(filepath.Join(folder, s.file()), func(w io.Writer) error { return writeChart(w, s.rows) }); err != nil {
			return err
		}
	}
	return writeFile(path, func(w io.Writer) error { return p.markdown(w, filepath.Base(folder)) })
}

func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return cmp.Or(write(f), f.Close())
}

// markdown writes the text. Charts are in the folder.
func (p *page) markdown(w io.Writer, folder string) error {
	var b strings.Builder
	m := p.machine
	fmt.Fprintf(&b, "# Speed\n\n`cd bench && %s` writes this page with all its figures.\n\n", p.command)
	fmt.Fprintf(&b, "Measured on %s, on %d × %s (%s), with %s and Redis %s: %d redis-server processes without persistence. They share the "+
		"machine and its processors with the client. Load average before: %s. Each figure is from %s of %v, after a warm-up. Libraries: %s.\n\n",
		m.date, m.count, m.processor, m.system, m.golang, m.redis, clusterSize, m.load, counted(p.rounds, "round"), p.duration, strings.Join(m.libraries, ", "))
	if p.rounds < enoughRounds {
		fmt.Fprintf(&b, "**Provisional:** with fewer than %d rounds a figure can be far off.\n\n", enoughRounds)
	}
	b.WriteString(strings.ReplaceAll(howToRead, "PATIENCE", patience.String()))
	b.WriteString("\n## Contestants\n\n")
	fmt.Fprintf(&b, "All have a TTL of %v and wait %v for a server, redsync's default for this TTL. All go-redis clients run without retries and, unless noted, with the default pools of ten connections for each processor. "+
		"A caller that finds a lock taken asks again after %v to %v, unless it is notified earlier.\n\n", ttl, nodeTimeout, minRetry, maxRetry)
	table(&b, []string{"contestant", "servers", "how it is set up"}, len(contestants), func(i int) []string {
		c := contestants[i]
		return []string{c.name, strconv.Itoa(c.servers), c.what}
	}, 1)
	if p.traffic != nil {
		b.WriteString("\n## What is sent\n\nCommands for one lock and unlock on all servers together, with free locks. Commands that scripts call on the server are in parentheses.\n\n")
		table(&b, []string{"contestant", "in parallel", "sent", "commands"}, len(p.traffic), func(i int) []string {
			t := p.traffic[i]
			n := float64(t.operations)
			return []string{t.contestant.name, strconv.Itoa(t.parallel), trim(float64(sum(t.sent))/n, 1), commandsOf(t)}
		}, 1, 2)
	}
	for _, s := range p.sections() {
		p.section(&b, s, folder)
	}
	p.floor(&b)
	if p.renewals != nil {
		p.renewal(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// enoughRounds is how many a median needs.
const enoughRounds = 3

const howToRead = `An operation is one lock and one unlock. Callers do one after another without a pause. *Uncontended*: each caller has a lock of its
own. *Contended*: all want the same few locks, and nothing is done under them; callers of this library then have a client each, since
callers of one client wait for each other inside it and not at the servers. A caller that has just released often gets the lock
again at once. That raises the throughput at the expense of the other callers, whose waits are in the high percentiles.

- **µs/op**: wall clock time divided by operations, all callers together. **ops/s** is its reciprocal.
- **speed**: µs/op of redsync's best setting divided by this one's, in the same round. 2 is twice as fast as redsync.
- **p50, p99, p99.9**: how long one operation took for its caller, in milliseconds.
- **client**, **servers**: processor time per operation of the client process (getrusage) and of all servers together (INFO cpu), in
  microseconds. On a machine with other work it grows much less than the wall clock time.
- **mallocs**: heap allocations per operation in the whole client process.
- **executed**: commands per operation that the servers executed (INFO commandstats), including those called by scripts.
- **reads**: how often per operation the servers read from a socket; commands sent together are read together.
- **given up**: operations that still waited for their lock PATIENCE after the end of the measurement. They count in the percentiles with
  the time until then, but not in the throughput.
- **failed**: operations that ended with an error, in all rounds together.

Contestants take turns within a round, and each round begins with a different one. Figures are medians of the rounds.
`

func (p *page) section(b *strings.Builder, s section, folder string) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n", capital(s.title()), s.condition.what)
	if s.contended {
		fmt.Fprintf(b, "All callers want %d locks.\n", sharedKeys)
	}
	fmt.Fprintf(b, "\n![%s](%s/%s)\n\n", s.title(), folder, s.file())
	head := []string{"in parallel", "contestant", "ops/s", "µs/op", "speed", "p50", "p99", "p99.9", "client", "servers", "mallocs", "executed", "reads", "given up", "failed"}
	if !s.condition.isHealthy() {
		head = slices.Delete(head, 8, 13)
	}
	table(b, head, len(s.rows), func(i int) []string {
		r := s.rows[i]
		cells := []string{strconv.Itoa(r.parallel), r.contestant.name}
		if r.rounds == 0 {
			cells = append(cells, slices.Repeat([]string{"–"}, len(head)-4)...)
			return append(cells, strconv.Itoa(r.waiting), strconv.Itoa(r.failures))
		}
		cells = append(cells, trim(1e6/r.micros, 0), trim(r.micros, 1), ratio(r.speed), inMilliseconds(r.p50), inMilliseconds(r.p99), inMilliseconds(r.p999))
		if s.condition.isHealthy() {
			cells = append(cells, trim(r.clientCPU, 1), trim(r.serverCPU, 1), trim(r.mallocs, 0), trim(r.executed, 1), trim(r.reads, 1))
		}
		return append(cells, strconv.Itoa(r.waiting), strconv.Itoa(r.failures))
	}, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)
	for _, r := range s.rows {
		if r.err != nil {
			fmt.Fprintf(b, "\nFirst failure of %s, %d in parallel: `%s`\n", r.contestant.name, r.parallel, oneLine(r.err.Error()))
		}
	}
}

func (p *page) renewal(b *strings.Builder) {
	fmt.Fprintf(b, "\n## Renewal\n\nLocks are held and each is renewed every %v. The measurement lasts %v and begins after all were renewed once. **client** and **servers** are processor seconds per second, "+
		"of the client process (getrusage) and of all servers together (INFO cpu).\n\n", renewEvery.Round(time.Millisecond), p.renewing.Round(time.Millisecond))
	table(b, []string{"contestant", "held", "taking them", "renewals/s", "client", "servers", "mallocs", "lost"}, len(p.renewals), func(i int) []string {
		r := p.renewals[i]
		return []string{r.contestant.name, strconv.Itoa(r.held), r.taking.Round(10 * time.Millisecond).String(), trim(r.renewals, 0),
			trim(r.client, 3), trim(r.servers, 3), trim(r.mallocs, 0), strconv.Itoa(r.lost)}
	}, 1, 2, 3, 4, 5, 6, 7)
	for _, r := range p.renewals {
		if r.err != nil {
			fmt.Fprintf(b, "\nFirst loss of %s: `%s`\n", r.contestant.name, oneLine(r.err.Error()))
		}
	}
}

// table writes rows of cells; the columns named are figures, at the right.
func table(b *strings.Builder, head []string, rows int, row func(i int) []string, right ...int) {
	line := func(cells []string) {
		fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
	}
	line(head)
	under := make([]string, len(head))
	for i := range under {
		under[i] = "---"
		if slices.Contains(right, i) {
			under[i] = "--:"
		}
	}
	line(under)
	for i := range rows {
		cells := row(i)
		for j := range cells {
			cells[j] = strings.ReplaceAll(cells[j], "|", `\|`)
		}
		line(cells)
	}
}

// commandsOf lists commands by name, with how many there are for each operation.
func commandsOf(t trafficRow) string {
	list := func(commands map[string]int) string {
		var names []string
		for name := range commands {
			names = append(names, name)
		}
		slices.Sort(names)
		for i, name := range names {
			names[i] = trim(float64(commands[name])/float64(t.operations), 1) + " " + strings.ToUpper(name)
		}
		return strings.Join(names, ", ")
	}
	text := list(t.sent)
	if len(t.inScripts) > 0 {
		text += " (" + list(t.inScripts) + ")"
	}
	return text
}

// ratio writes how many times as fast something is; a dash if there was nothing to compare with.
func ratio(x float64) string {
	if x == 0 {
		return "–"
	}
	return trim(x, 2)
}

func inMilliseconds(d time.Duration) string { return trim(milliseconds(d), 2) }

// trim writes a figure with so many decimals, and without zeros at its end.
func trim(x float64, decimals int) string {
	text := strconv.FormatFloat(x, 'f', decimals, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// oneLine is the text of an error as it fits between backquotes, cut off where it is long.
func oneLine(text string) string {
	const longest = 300
	text = strings.Join(strings.Fields(strings.ReplaceAll(text, "`", "'")), " ")
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest]) + "…"
	}
	return text
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
