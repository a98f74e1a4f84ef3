package scenarios

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"redlocksim/internal/strictyaml"
)

// Load reads a scenario file: its cases in their order, or the one scenario it holds. A file that is wrong gives a
// strictyaml.Errors with everything that is wrong in it; one that cannot be read, an error of package os.
func Load(path string) ([]*Scenario, error) {
	data, err := strictyaml.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, data)
}

// Parse is Load for the content of a file.
func Parse(path string, data []byte) ([]*Scenario, error) {
	base := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	doc := document{name: base}
	if err := strictyaml.Decode(path, data, &doc); err != nil {
		return nil, err
	}
	return doc.scenarios, nil
}

// document is a scenario file: one scenario, or a base and named cases that say what is different in them.
type document struct {
	name, topic string
	scenarios   []*Scenario
}

var caseName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func (doc *document) UnmarshalNode(d *strictyaml.Decoder, n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		d.Errorf(n, "", nil, "a scenario is a mapping, with title, source, claim, timeline, expect and so on")
		return
	}
	base, cases := strictyaml.Without(n, "cases")
	if title := child(n, "title"); title != n {
		doc.topic = title.Value
	}
	if cases == nil {
		doc.add(d, doc.name, n)
		return
	}
	if cases.Kind != yaml.MappingNode || len(cases.Content) == 0 || len(cases.Content)/2 > maxCases {
		d.Errorf(cases, "", nil, "cases is a mapping from names to what is different in each, with 1 to %d entries", maxCases)
		return
	}
	for i := 0; i+1 < len(cases.Content); i += 2 {
		key, patch := cases.Content[i], cases.Content[i+1]
		switch {
		case !caseName.MatchString(key.Value):
			d.Errorf(key, key.Value, nil, "a case is named in lower-case words with hyphens")
		case slices.ContainsFunc(doc.scenarios, func(s *Scenario) bool { return s.Name == doc.name+"/"+key.Value }):
			d.Errorf(key, key.Value, nil, "there are two cases of this name")
		case patch.Kind != yaml.MappingNode:
			d.Errorf(patch, "", nil, "a case is a mapping of what is different in it")
		default:
			doc.add(d, doc.name+"/"+key.Value, strictyaml.Merge(base, patch))
		}
	}
}

func (doc *document) add(d *strictyaml.Decoder, name string, n *yaml.Node) {
	s := Default()
	s.Name, s.Topic, s.node = name, doc.topic, n
	if !d.Decode(n, &s) {
		return
	}
	c := check{d: d, s: &s, n: n}
	c.all()
	doc.scenarios = append(doc.scenarios, &s)
}

// Encode is the scenario as a file that Parse reads as the same scenario, but for its name, which is the file's. What is
// as in Default is left out. An error says what no file can say.
func (s *Scenario) Encode() ([]byte, error) {
	data, err := strictyaml.Encode(s, Default())
	if err != nil {
		return nil, fmt.Errorf("scenarios: %s: %w", s.Name, err)
	}
	return data, nil
}
