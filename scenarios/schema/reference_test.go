package schema_test

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"redlocksim/sim"
	"redlocksim/sim/kernel"
)

const referencePath = "../../docs/scenario-files.md"

var referenceHead = `# Scenario files

A scenario is a YAML file. Every key that you leave out has a default. A file with ` + "`cases`" + ` holds several scenarios; each case
lists only what differs from the keys around it. The embedded [files](../scenarios/files) are examples.

- ` + "`redlocksim new`" + ` writes a file to start from.
- ` + "`redlocksim lint FILE`" + ` reports mistakes with their lines.
- ` + "`redlocksim lint --schema`" + ` prints the JSON Schema for editors. This page is generated from it (` + "`go test ./scenarios/schema -update`" + `).

Durations are written as ` + "`50ms`, `2s`, `1m30s`" + `, percentages as ` + "`0.5%`" + `.

A run may record ` + fmt.Sprint(sim.DefaultMaxEvents) + ` events, make ` + fmt.Sprint(kernel.DefaultMaxSteps) + ` steps and have ` + fmt.Sprint(kernel.DefaultMaxGoroutines) + ` goroutines at once. Beyond that it ends
with an error that names the limit, and exit code 2. Lower ` + "`repeat`, `goroutines` or `duration`" + `, or use fewer clients, steps or
faults with ` + "`every`" + `. ` + "`redlocksim lint`" + ` warns of a file whose repeated steps alone exceed the limit.

`

// TestReferenceIsCurrent: the page about scenario files says what the schema says.
func TestReferenceIsCurrent(t *testing.T) {
	committed, err := os.ReadFile(referencePath)
	if err != nil {
		t.Fatal(err)
	}
	isCurrent(t, referencePath, committed, reference(t))
}

// Every link of the page leads to a heading.
func TestLinksOfTheReference(t *testing.T) {
	page := string(reference(t))
	links := regexp.MustCompile(`\]\(#([^)]*)\)`).FindAllStringSubmatch(page, -1)
	for _, link := range links {
		if heading := "# " + strings.ReplaceAll(link[1], "-", " ") + "\n"; !strings.Contains(strings.ToLower(page), heading) {
			t.Errorf("no heading for #%s", link[1])
		}
	}
	if len(links) < 20 {
		t.Errorf("looked at %d links", len(links))
	}
}

// page is the reference as far as it is written, and the definitions that it is still to describe.
type page struct {
	t      *testing.T
	schema *jsonschema.Schema
	strings.Builder
	queue []string
	seen  map[string]bool
}

// meet has the page describe definitions, each once, in the order in which they are met.
func (p *page) meet(definitions ...string) {
	for _, name := range definitions {
		if !p.seen[name] {
			p.seen[name] = true
			p.queue = append(p.queue, name)
		}
	}
}

// section describes the keys of a mapping, with what is to be said of some of their values.
func (p *page) section(level, heading string, d *jsonschema.Schema, values map[string]string) {
	fmt.Fprintf(p, "%s %s\n\n%s\n\n%s", level, heading, d.Description, tableHead)
	for _, key := range d.PropertyOrder {
		of := d.Properties[key]
		value, own := values[key]
		if !own {
			value = valueOf(of)
			p.meet(refs(of)...)
		}
		p.WriteString(row(key, value, of.Description, slices.Contains(d.Required, key)))
	}
}

// definition writes a section of the page, and those that belong below it.
func (p *page) definition(name string) {
	d, heading := p.schema.Definitions[name], headings[name]
	if heading == "" {
		p.t.Fatalf("%s has no heading", name)
	}
	switch name {
	case "Scenario":
		p.section("##", heading, d, nil)
		p.WriteString(row("cases", "mapping of names to [scenarios](#scenario)", p.schema.Then.Properties["cases"].Description, false))
	case "written":
		p.section("##", heading, d, map[string]string{"do": "list of [steps](#steps)", "fault": "one of the [faults](#faults)"})
		steps, all := d.Properties["do"].Items, d.Properties["fault"]
		p.WriteString("\n" + stepTable(steps))
		p.meet(refs(steps)...)
		p.WriteString(faultsHead)
		for _, fault := range all.PropertyOrder {
			p.WriteString("\n")
			p.section("###", "`"+fault+"`", p.schema.Definitions[refs(all.Properties[fault])[0]], nil)
		}
	default:
		p.section("##", heading, d, nil)
	}
	p.WriteString("\n")
}

// reference is the whole page: in the order in which definitions are met, from the whole file on.
func reference(t *testing.T) []byte {
	p := &page{t: t, schema: made(t), seen: map[string]bool{}}
	p.WriteString(referenceHead)
	p.meet("Scenario")
	for len(p.queue) > 0 {
		name := p.queue[0]
		p.queue = p.queue[1:]
		p.definition(name)
	}
	return []byte(strings.TrimRight(p.String(), "\n") + "\n")
}

const faultsHead = "## Faults\n\nAn item of the timeline has a fault's name and its keys: `{at: 1s, fault: {pause: {process: client-1, for: 2s}}}`.\n"

// headings are what the parts of a file are called; a fault's heading is its name.
var headings = map[string]string{
	"Scenario":    "Scenario",
	"Settings":    "Lock",
	"Nodes":       "Nodes",
	"Network":     "Network",
	"Budget":      "Budget",
	"written":     "Timeline item",
	"OnLive":      "Tier live",
	"Expect":      "Expected verdict",
	"ExpectOn":    "Expected verdict on one resource",
	"Recorded":    "Recorded run",
	"Drift":       "Drift allowance",
	"Range":       "Range of delays",
	"Guard":       "Restart guard",
	"Wait":        "Waiting for replicas",
	"quantiles":   "Latency",
	"Moment":      "Event",
	"StepOn":      "Step on a resource",
	"Bounds":      "Bounds on a time",
	"CountBounds": "Bounds on a count",
	"Reached":     "Required event",
}

const tableHead = "| key | value | default | meaning | example |\n|---|---|---|---|---|\n"

func row(key, value, description string, required bool) string {
	meaning, fallback, example := split(description)
	if required {
		fallback = "required"
	} else {
		fallback = quoted(fallback)
	}
	return fmt.Sprintf("| `%s` | %s | %s | %s | %s |\n", key, cell(value), cell(fallback), cell(meaning), cell("`"+example+"`"))
}

// quoted marks a default as YAML, unless it is prose.
func quoted(fallback string) string {
	if fallback == "" || strings.Contains(fallback, " ") && !strings.ContainsAny(fallback[:1], "{[") {
		return fallback
	}
	return "`" + fallback + "`"
}

// stepTable lists what a client can do: each step as a word alone, and with a length, a resource or both where it can have
// them.
func stepTable(steps *jsonschema.Schema) string {
	var b strings.Builder
	b.WriteString("### Steps\n\nA step is a word such as `unlock`, or a word with a length, a resource, or both: `hold: 5s`, `lock: orders`,\n" +
		"`lock: {resource: orders, for: 5s}`.\n\n" +
		"When a lock is not granted, the client leaves out the rest of `do` and releases the locks that it holds, the last first;\n" +
		"with `repeat` it then begins again. So it is after a permit that is not granted, and a `prepare` that fails. With\n" +
		"`lock: {for: 2s, anyway: true}` it goes on without the lock instead: it reads and writes without looking at a lease, and\n" +
		"what needs one (`extend`, `unlock`) does nothing. After an `unlock`, `write-back: {released: true}` and the like reach the\n" +
		"resource without the lock, too. What is done without the lock can lose an update, its own or that of a holder.\n\n| step | value | default | meaning | example |\n|---|---|---|---|---|\n")
	last := steps.AnyOf[len(steps.AnyOf)-1]
	described, order := map[string]*jsonschema.Schema{}, []string{}
	for _, form := range steps.AnyOf {
		if form.Const != nil {
			word := fmt.Sprint(*form.Const)
			described[word], order = form, append(order, word)
		}
	}
	for _, word := range last.PropertyOrder {
		if described[word] == nil {
			order = append(order, word)
		}
		described[word] = last.Properties[word]
	}
	for _, word := range order {
		value := ""
		if of := described[word]; of.Const == nil {
			value = valueOf(of)
		}
		b.WriteString(row(word, value, described[word].Description, false))
	}
	return b.String() + "\n"
}

// link leads to the part of a file that a definition describes.
func link(name string) string {
	return fmt.Sprintf("[%s](#%s)", strings.ToLower(headings[name]), strings.ReplaceAll(strings.ToLower(headings[name]), " ", "-"))
}

func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

// refs are the definitions that a value can be one of.
func refs(s *jsonschema.Schema) (names []string) {
	if s == nil {
		return nil
	}
	if name, ok := strings.CutPrefix(s.Ref, "#/definitions/"); ok {
		names = append(names, name)
	}
	for _, part := range slices.Concat([]*jsonschema.Schema{s.Items}, s.AnyOf, s.OneOf, []*jsonschema.Schema{s.AdditionalProperties}) {
		names = append(names, refs(part)...)
	}
	for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
		names = append(names, refs(s.Properties[key])...)
	}
	return names
}

// valueOf says in words what can stand there.
func valueOf(s *jsonschema.Schema) string {
	switch others := s.AdditionalProperties; {
	case s.Ref != "":
		return link(strings.TrimPrefix(s.Ref, "#/definitions/"))
	case s.Const != nil:
		return fmt.Sprintf("`%v`", *s.Const)
	case len(s.Enum) > 0:
		var words []string
		for _, e := range s.Enum {
			words = append(words, fmt.Sprintf("`%v`", e))
		}
		return strings.Join(words, ", ")
	case len(s.AnyOf)+len(s.OneOf) > 0:
		var words []string
		for _, part := range slices.Concat(s.AnyOf, s.OneOf) {
			if w := valueOf(part); w != "" && !slices.Contains(words, w) {
				words = append(words, w)
			}
		}
		return strings.Join(words, " or ")
	case strings.Contains(s.Pattern, "ms|s|m|h"):
		return "duration"
	case strings.HasSuffix(s.Pattern, "%$"):
		return "percentage"
	case s.Items != nil && valueOf(s.Items) == "name":
		return "list of names"
	case s.Items != nil:
		return "list of " + valueOf(s.Items)
	case others != nil && others.Not == nil:
		return "mapping of names to " + valueOf(others)
	case strings.HasPrefix(s.Pattern, "^[^-+.,0-9]"):
		return "name"
	case s.Pattern != "":
		return "text like `" + s.Pattern + "`"
	}
	return map[string]string{"string": "text", "boolean": "`true`, `false`", "object": "mapping", "integer": "whole number"}[s.Type]
}
