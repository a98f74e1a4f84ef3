package schema_test

import (
	"bytes"
	"encoding/json"
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

// node is what the reference needs of a schema.
type node struct {
	Ref         string          `json:"$ref"`
	Type        any             `json:"type"`
	Description string          `json:"description"`
	Enum        []any           `json:"enum"`
	Const       any             `json:"const"`
	Pattern     string          `json:"pattern"`
	Properties  json.RawMessage `json:"properties"`
	Required    []string        `json:"required"`
	Items       *node           `json:"items"`
	AnyOf       []*node         `json:"anyOf"`
	OneOf       []*node         `json:"oneOf"`
	Others      others          `json:"additionalProperties"`
}

// others is the schema of the values of a mapping whose keys are names; false, as in most mappings, is none.
type others struct{ *node }

func (o *others) UnmarshalJSON(data []byte) error {
	if string(data) == "false" {
		return nil
	}
	return json.Unmarshal(data, &o.node)
}

// properties are the keys of a mapping.
func (n *node) properties() map[string]*node {
	properties := map[string]*node{}
	if n.Properties != nil {
		_ = json.Unmarshal(n.Properties, &properties) // it was read before
	}
	return properties
}

// TestReferenceIsCurrent: the page about scenario files says what the schema says.
func TestReferenceIsCurrent(t *testing.T) {
	page := reference(t)
	if *update {
		if err := os.WriteFile(referencePath, page, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	committed, err := os.ReadFile(referencePath)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(committed, page) {
		t.Errorf("%s is not what the schema says: go test ./scenarios/schema -update writes it", referencePath)
	}
}

// Every key of a file is on the page, and every link of the page leads to a heading.
func TestReferenceIsComplete(t *testing.T) {
	page := string(reference(t))
	var s jsonschema.Schema
	if err := json.Unmarshal(scenarioSchema(t), &s); err != nil {
		t.Fatal(err)
	}
	looked := 0
	walk(&s, "", func(path string, of *jsonschema.Schema) {
		for key, p := range of.Properties {
			if meaning, _, _ := split(p.Description); !strings.Contains(page, "| `"+key+"` | ") || !strings.Contains(page, cell(meaning)) {
				t.Errorf("%s.%s is not on the page: %s", path, key, meaning)
			}
			looked++
		}
	})
	links := regexp.MustCompile(`\]\(#([^)]*)\)`).FindAllStringSubmatch(page, -1)
	for _, link := range links {
		if heading := "# " + strings.ReplaceAll(link[1], "-", " ") + "\n"; !strings.Contains(strings.ToLower(page), heading) {
			t.Errorf("no heading for #%s", link[1])
		}
	}
	if looked < 100 || len(links) < 20 {
		t.Errorf("looked at %d keys and %d links", looked, len(links))
	}
}

// page is the reference as far as it is written, and the definitions that it is still to describe.
type page struct {
	t      *testing.T
	schema document
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
func (p *page) section(level, heading string, d *node, values map[string]string) {
	fmt.Fprintf(p, "%s %s\n\n%s\n\n%s", level, heading, d.Description, tableHead)
	for _, key := range keys(p.t, d.Properties) {
		of := d.properties()[key]
		value, own := values[key]
		if !own {
			value = of.value()
			p.meet(of.refs()...)
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
		p.WriteString(row("cases", "mapping of names to [scenarios](#scenario)", p.schema.Then.properties()["cases"].Description, false))
	case "written":
		p.section("##", heading, d, map[string]string{"do": "list of [steps](#steps)", "fault": "one of the [faults](#faults)"})
		item := d.properties()
		p.WriteString("\n" + stepTable(p.t, item["do"].Items))
		p.meet(item["do"].refs()...)
		p.WriteString(faultsHead)
		for _, fault := range keys(p.t, item["fault"].Properties) {
			ref := item["fault"].properties()[fault].refs()[0]
			p.WriteString("\n")
			p.section("###", "`"+fault+"`", p.schema.Definitions[ref], nil)
		}
	default:
		p.section("##", heading, d, nil)
	}
	p.WriteString("\n")
}

// reference is the whole page: in the order in which definitions are met, from the whole file on.
func reference(t *testing.T) []byte {
	p := &page{t: t, schema: allOf(t), seen: map[string]bool{}}
	p.WriteString(referenceHead)
	p.meet("Scenario")
	for len(p.queue) > 0 {
		name := p.queue[0]
		p.queue = p.queue[1:]
		p.definition(name)
	}
	return []byte(strings.TrimRight(p.String(), "\n") + "\n")
}

// document is a schema with its definitions.
type document struct {
	Definitions map[string]*node `json:"definitions"`
	Then        *node            `json:"then"` // of a file with cases
}

func allOf(t *testing.T) (all document) {
	if err := json.Unmarshal(scenarioSchema(t), &all); err != nil {
		t.Fatal(err)
	}
	return all
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
func stepTable(t *testing.T, steps *node) string {
	var b strings.Builder
	b.WriteString("### Steps\n\nA step is a word such as `unlock`, or a word with a length, a resource, or both: `hold: 5s`, `lock: orders`,\n" +
		"`lock: {resource: orders, for: 5s}`.\n\n" +
		"When a lock is not granted, the client leaves out the rest of `do` and releases the locks that it holds, the last first;\n" +
		"with `repeat` it then begins again. So it is after a permit that is not granted, and a `prepare` that fails. With\n" +
		"`lock: {for: 2s, anyway: true}` it goes on without the lock instead: it reads and writes without looking at a lease, and\n" +
		"what needs one (`extend`, `unlock`) does nothing. After an `unlock`, `write-back: {released: true}` and the like reach the\n" +
		"resource without the lock, too. What is done without the lock can lose an update, its own or that of a holder.\n\n| step | value | default | meaning | example |\n|---|---|---|---|---|\n")
	alone := map[string]*node{}
	var order []string
	for _, form := range steps.AnyOf {
		if form.Const != nil {
			alone[fmt.Sprint(form.Const)] = form
			order = append(order, fmt.Sprint(form.Const))
		}
	}
	with := map[string]*node{}
	last := steps.AnyOf[len(steps.AnyOf)-1]
	if err := json.Unmarshal(last.Properties, &with); err != nil {
		t.Fatal(err)
	}
	for _, word := range keys(t, last.Properties) {
		if alone[word] == nil {
			order = append(order, word)
		}
	}
	for _, word := range order {
		value, described := "", alone[word]
		if with[word] != nil {
			value, described = with[word].value(), with[word]
		}
		b.WriteString(row(word, value, described.Description, false))
	}
	return b.String() + "\n"
}

// link leads to the part of a file that a definition describes.
func link(name string) string {
	return fmt.Sprintf("[%s](#%s)", strings.ToLower(headings[name]), strings.ReplaceAll(strings.ToLower(headings[name]), " ", "-"))
}

func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

// refs are the definitions that a value can be one of.
func (n *node) refs() (names []string) {
	if n == nil {
		return nil
	}
	if name, ok := strings.CutPrefix(n.Ref, "#/definitions/"); ok {
		names = append(names, name)
	}
	names = append(names, n.Items.refs()...)
	for _, m := range append(n.AnyOf, n.OneOf...) {
		names = append(names, m.refs()...)
	}
	names = append(names, n.Others.node.refs()...)
	properties := n.properties()
	for _, key := range slices.Sorted(maps.Keys(properties)) {
		names = append(names, properties[key].refs()...)
	}
	return names
}

// value says in words what can stand there.
func (n *node) value() string {
	switch {
	case n == nil:
		return ""
	case n.Ref != "":
		return link(strings.TrimPrefix(n.Ref, "#/definitions/"))
	case n.Const != nil:
		return fmt.Sprintf("`%v`", n.Const)
	case len(n.Enum) > 0:
		var words []string
		for _, e := range n.Enum {
			words = append(words, fmt.Sprintf("`%v`", e))
		}
		return strings.Join(words, ", ")
	case len(n.AnyOf)+len(n.OneOf) > 0:
		var words []string
		for _, m := range append(n.AnyOf, n.OneOf...) {
			if w := m.value(); w != "" && !slices.Contains(words, w) {
				words = append(words, w)
			}
		}
		return strings.Join(words, " or ")
	case strings.Contains(n.Pattern, "ms|s|m|h"):
		return "duration"
	case strings.HasSuffix(n.Pattern, "%$"):
		return "percentage"
	case n.Items != nil && n.Items.value() == "name":
		return "list of names"
	case n.Items != nil:
		return "list of " + n.Items.value()
	case n.Others.node != nil:
		return "mapping of names to " + n.Others.value()
	case strings.HasPrefix(n.Pattern, "^[^-+.,0-9]"):
		return "name"
	case n.Pattern != "":
		return "text like `" + n.Pattern + "`"
	}
	if kind, ok := n.Type.(string); ok {
		return map[string]string{"string": "text", "boolean": "`true`, `false`", "object": "mapping"}[kind] + map[string]string{"integer": "whole number", "number": "number"}[kind]
	}
	return ""
}

// keys are those of a JSON object in their order.
func keys(t *testing.T, object json.RawMessage) (names []string) {
	d := json.NewDecoder(bytes.NewReader(object))
	depth := 0
	for isKey := false; ; {
		token, err := d.Token()
		if err != nil {
			return names
		}
		switch token := token.(type) {
		case json.Delim:
			if token == '{' || token == '[' {
				depth++
				isKey = depth == 1
			} else {
				depth--
				isKey = depth == 1
			}
		case string:
			if depth == 1 && isKey {
				names = append(names, token)
				isKey = false
			} else if depth == 1 {
				t.Fatalf("a property that is no schema: %s", token)
			}
		}
	}
}
