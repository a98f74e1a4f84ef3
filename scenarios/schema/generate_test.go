package schema_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"redlocksim/internal/mark"
	"redlocksim/lockprogram/lines"
	"redlocksim/reports"
	"redlocksim/scenarios"
	"redlocksim/scenarios/schema"
)

var update = flag.Bool("update", false, "write the schemas")

// module is the path of the module, and where its root is from here.
const (
	module = "redlocksim/"
	root   = "../.."
)

// comments finds what the source says of types and their fields.
type comments struct {
	t     *testing.T
	known map[string]map[string]string // by package, and type or type.field
}

func (c *comments) of(t reflect.Type, field string) string {
	path := strings.TrimPrefix(t.PkgPath(), module)
	if c.known[path] == nil {
		c.known[path] = c.read(path)
	}
	name := t.Name()
	if field != "" {
		name += "." + field
	}
	return c.known[path][name]
}

func (c *comments) read(path string) map[string]string {
	found := map[string]string{}
	files, err := filepath.Glob(filepath.Join(root, path, "*.go"))
	if err != nil || len(files) == 0 {
		c.t.Fatalf("no source of %s: %v", path, err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			c.t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			decl, ok := n.(*ast.GenDecl)
			if !ok {
				return true
			}
			for _, spec := range decl.Specs {
				typ, ok := spec.(*ast.TypeSpec)
				if !ok {
					continue
				}
				doc := typ.Doc
				if doc == nil {
					doc = decl.Doc
				}
				found[typ.Name.Name] = sentence(typ.Name.Name, doc)
				if s, ok := typ.Type.(*ast.StructType); ok {
					fields(found, typ.Name.Name, s)
				}
			}
			return false
		})
	}
	return found
}

// fields adds the comments of a struct's fields, each its own: what is said of the field above it is not said of it.
func fields(found map[string]string, owner string, s *ast.StructType) {
	for _, f := range s.Fields.List {
		doc := f.Doc
		if doc == nil {
			doc = f.Comment
		}
		for _, n := range f.Names {
			found[owner+"."+n.Name] = sentence(n.Name, doc)
		}
	}
}

var references = regexp.MustCompile(` \((?:checker|faults|sim)\.\w+\)`)

// sentence is a comment on one line, without the name that it begins with and a verb that then says nothing: of "TTL is the
// time to live", "The time to live".
func sentence(name string, doc *ast.CommentGroup) string {
	if doc == nil {
		return ""
	}
	text := references.ReplaceAllString(strings.Join(strings.Fields(doc.Text()), " "), "")
	for _, start := range []string{name + " is ", name + " are ", name + " "} {
		if rest, ok := strings.CutPrefix(text, start); ok {
			return strings.ToUpper(rest[:1]) + rest[1:]
		}
	}
	return text
}

// describe adds comments to the schema of a struct by its JSON tags.
func (c *comments) describe(s *jsonschema.Schema, t reflect.Type) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		if t.Kind() == reflect.Slice {
			s = s.Items
		}
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return
	}
	s.Description = c.of(t, "")
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		p := s.Properties[name]
		c.describe(p, f.Type)
		if text := c.of(t, f.Name); text != "" {
			p.Description = text
		}
	}
}

func suite(t *testing.T, c *comments) *jsonschema.Schema {
	s, err := jsonschema.For[reports.Document](nil)
	if err != nil {
		t.Fatal(err)
	}
	c.describe(s, reflect.TypeFor[reports.Document]())
	s.Properties["generator"] = &jsonschema.Schema{Type: "string", Description: "Generator is what wrote the file: " + mark.Name + "."}
	s.Required = append(s.Required, "generator")
	s.PropertyOrder = append([]string{"generator"}, s.PropertyOrder...)
	s.Schema = "http://json-schema.org/draft-07/schema#"
	s.Title = "What redlocksim suite --json writes"
	return s
}

// lockProgram is the schema of a line, which is a request or an answer.
func lockProgram(t *testing.T, c *comments) *jsonschema.Schema {
	o := &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[lines.RequestType](): words(lines.RequestTypes()),
		reflect.TypeFor[lines.AnswerType]():  words(lines.AnswerTypes()),
		reflect.TypeFor[lines.Capability]():  words(lines.Capabilities()),
		reflect.TypeFor[lines.Server]():      words(lines.Servers()),
		reflect.TypeFor[json.RawMessage]():   {Type: "object"},
	}}
	request, err := jsonschema.For[lines.Request](o)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := jsonschema.For[lines.Answer](o)
	if err != nil {
		t.Fatal(err)
	}
	c.describe(request, reflect.TypeFor[lines.Request]())
	c.describe(answer, reflect.TypeFor[lines.Answer]())
	return &jsonschema.Schema{Schema: "http://json-schema.org/draft-07/schema#", Title: "A line between redlocksim and a lock program",
		AnyOf: []*jsonschema.Schema{request, answer}}
}

// words is the schema of a string that is one of some.
func words[T ~string](all []T) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for _, word := range all {
		s.Enum = append(s.Enum, string(word))
	}
	return s
}

// The lines that the page about lock programs shows are what the schema allows, and nonsense is not.
func TestLinesOfLockPrograms(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "lock-programs.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(page), "```json\n")
	shown, _, _ = strings.Cut(shown, "```")
	resolved, err := lockProgram(t, newComments(t)).Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	valid := func(line string) error {
		var v any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		return resolved.Validate(v)
	}
	all := strings.Split(strings.TrimSpace(shown), "\n")
	for _, line := range all {
		if err := valid(line); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	if len(all) < 6 {
		t.Errorf("the page shows %d lines", len(all))
	}
	for _, line := range []string{`{}`, `{"type":"dance","id":1}`, `{"type":"granted","re":1,"valid":3}`, `{"type":"ready","re":1,"can":["fly"]}`} {
		if valid(line) == nil {
			t.Errorf("%s is allowed", line)
		}
	}
}

func newComments(t *testing.T) *comments { return &comments{t, map[string]map[string]string{}} }

// text is a schema as its file has it.
func text(t *testing.T, s *jsonschema.Schema) []byte {
	made, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(made, '\n')
}

// made is the schema of scenario files, of the types as they are now. The other tests look at it, so that one -update is
// enough; that the embedded one is the same is TestSchemasAreCurrent's.
func made(t *testing.T) *jsonschema.Schema { return scenarios.Schema(newComments(t).of) }

// The schemas are those of the types as they are now.
func TestSchemasAreCurrent(t *testing.T) {
	isCurrent(t, "scenario.schema.json", schema.Scenario, text(t, made(t)))
	isCurrent(t, "lock-program.schema.json", schema.LockProgram, text(t, lockProgram(t, newComments(t))))
	isCurrent(t, "suite.schema.json", schema.Suite, text(t, suite(t, newComments(t))))
}

// isCurrent compares what a file has with what was made, and writes it with -update.
func isCurrent(t *testing.T, file string, has, made []byte) {
	t.Helper()
	switch {
	case bytes.Equal(made, has):
	case !*update:
		t.Errorf("%s is out of date; go test ./scenarios/schema -update makes it anew", file)
	default:
		if err := os.WriteFile(file, made, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// Every key of a scenario file says itself what it means: none is without a description, or has that of another.
func TestEveryKeyIsDescribed(t *testing.T) {
	described := 0
	walk(made(t), "", func(path string, of *jsonschema.Schema) {
		by := map[string]string{} // the key, by its description
		for _, key := range slices.Sorted(maps.Keys(of.Properties)) {
			text := of.Properties[key].Description
			switch other := by[text]; {
			case text == "":
				t.Errorf("%s.%s has no description: the field has no comment of its own", path, key)
			case other != "":
				t.Errorf("%s.%s has the description of %s: %s", path, key, other, text)
			}
			by[text] = key
			described++
			isRequired := slices.Contains(of.Required, key)
			meaning, fallback, example := split(text)
			switch {
			case meaning == "":
				t.Errorf("%s.%s has no meaning: %s", path, key, text)
			case !isRequired && fallback == "" && !slices.Contains(eitherOr, key):
				t.Errorf("%s.%s has no default: %s", path, key, text)
			case example == "":
				t.Errorf("%s.%s has no example: %s", path, key, text)
			}
		}
	})
	if described < 100 {
		t.Errorf("only %d keys were looked at", described)
	}
}

// eitherOr are keys of which an item of the timeline has some and not others, so that they have no default.
var eitherOr = []string{"at", "after", "every", "client", "do", "fault"}

// split takes a description apart: what the key means, what it is where it is left out, and an example.
func split(text string) (meaning, fallback, example string) {
	meaning, example, _ = strings.Cut(text, " Example: ")
	meaning, fallback, _ = strings.Cut(meaning, " Default: ")
	return meaning, strings.TrimSuffix(fallback, "."), example
}

// walk goes through the schemas of the structs in a schema.
func walk(s *jsonschema.Schema, path string, visit func(path string, s *jsonschema.Schema)) {
	if s == nil {
		return
	}
	if len(s.Properties) > 0 && (s.MaxProperties == nil || *s.MaxProperties > 1) {
		visit(path, s)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Definitions)) {
		// PartBudget has the keys of Budget, none of them required.
		if whole, part := strings.CutPrefix(name, "Part"); !part || s.Definitions[whole] == nil {
			walk(s.Definitions[name], name, visit)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
		walk(s.Properties[key], path+"."+key, visit)
	}
	walk(s.Items, path+"[]", visit)
}
