package schema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"redlocksim/sim"
	"redlocksim/sim/kernel"
)

const referencePath = "../docs/scenario-files.md"

var referenceHead = `# Scenario files

A scenario is a YAML file. Every key that you leave out has a default. A file with ` + "`cases`" + ` holds several scenarios; each case
lists only what differs from the keys around it. The embedded [files](../scenarios/files) are examples.

- ` + "`redlocksim new`" + ` writes a file to start from.
- ` + "`redlocksim lint FILE`" + ` reports mistakes with their lines.
- ` + "`redlocksim schema`" + ` prints the JSON Schema for editors. This page is generated from it (` + "`go test ./schema -update`" + `).

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
		t.Errorf("%s is not what the schema says: go test ./schema -update writes it", referencePath)
	}
}

func reference(t *testing.T) []byte {
	var all struct {
		Definitions map[string]*node `json:"definitions"`
	}
	if err := json.Unmarshal(scenarioSchema(t), &all); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString(referenceHead)
	// In the order in which they are met, from the whole file on.
	queue, seen := []string{"Scenario"}, map[string]bool{"Scenario": true}
	for len(queue) > 0 {
		name := queue[0]
		queue = queue[1:]
		d := all.Definitions[name]
		fmt.Fprintf(&b, "## %s\n\n%s\n\n", heading(name), d.Description)
		var steps *node
		b.WriteString(tableHead)
		for _, key := range keys(t, d.Properties) {
			var properties map[string]*node
			if err := json.Unmarshal(d.Properties, &properties); err != nil {
				t.Fatal(err)
			}
			p := properties[key]
			refs := p.refs()
			for _, ref := range refs {
				if !seen[ref] {
					seen[ref] = true
					queue = append(queue, ref)
				}
			}
			value := p.value()
			if name == "written" && key == "do" {
				steps, value = p.Items, "list of [steps](#steps)"
			}
			b.WriteString(row(key, value, p.Description, slices.Contains(d.Required, key)))
		}
		b.WriteString("\n")
		if steps != nil {
			b.WriteString(stepTable(t, steps))
		}
	}
	return []byte(strings.TrimRight(b.String(), "\n") + "\n")
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
		"`lock: {resource: orders, for: 5s}`.\n\n| step | value | default | meaning | example |\n|---|---|---|---|---|\n")
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

// heading is the title of a definition: the types' names, but for those that are internal.
func heading(name string) string {
	switch name {
	case "written":
		return "Timeline item"
	case "quantiles":
		return "Quantiles"
	}
	return name
}

func anchor(name string) string { return strings.ReplaceAll(strings.ToLower(heading(name)), " ", "-") }

func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

// refs are the definitions that a value can be one of.
func (n *node) refs() (names []string) {
	if n == nil {
		return nil
	}
	if name, ok := strings.CutPrefix(n.Ref, "#/definitions/"); ok && !strings.HasPrefix(name, "Part") {
		names = append(names, name)
	}
	names = append(names, n.Items.refs()...)
	for _, m := range append(n.AnyOf, n.OneOf...) {
		names = append(names, m.refs()...)
	}
	if n.Properties != nil {
		var properties map[string]*node
		_ = json.Unmarshal(n.Properties, &properties) // it was read before
		var order []string
		for key := range properties {
			order = append(order, key)
		}
		slices.Sort(order)
		for _, key := range order {
			names = append(names, properties[key].refs()...)
		}
	}
	return names
}

// value says in words what can stand there.
func (n *node) value() string {
	switch {
	case n == nil:
		return ""
	case n.Ref != "":
		name := strings.TrimPrefix(n.Ref, "#/definitions/")
		return fmt.Sprintf("[%s](#%s)", heading(name), anchor(name))
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
	case n.Properties != nil:
		var words []string
		var properties map[string]*node
		_ = json.Unmarshal(n.Properties, &properties)
		for key, p := range properties {
			words = append(words, fmt.Sprintf("`%s`: %s", key, p.value()))
		}
		slices.Sort(words)
		return "{" + strings.Join(words, ", ") + "}"
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
