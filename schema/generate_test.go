package schema_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"redlocksim/internal/mark"
	"redlocksim/reports"
	"redlocksim/scenarios"
	"redlocksim/schema"
)

var update = flag.Bool("update", false, "write the schemas")

// module is the path of the module, and where its root is from here.
const (
	module = "redlocksim/"
	root   = ".."
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

// fields adds the comments of a struct's fields. A comment over several fields without one between them is all theirs.
func fields(found map[string]string, owner string, s *ast.StructType) {
	before, line := (*ast.CommentGroup)(nil), token.NoPos
	for _, f := range s.Fields.List {
		doc := f.Doc
		switch {
		case doc == nil && f.Comment != nil:
			doc = f.Comment
		case doc == nil && before != nil && f.Pos()-line < 3: // the next line: a line feed and a tab
			doc = before
		}
		for _, n := range f.Names {
			found[owner+"."+n.Name] = sentence(n.Name, doc)
		}
		before, line = doc, f.End()
	}
}

var references = regexp.MustCompile(` \((?:checker|faults|sim)\.\w+\)`)

// sentence is a comment on one line.
func sentence(name string, doc *ast.CommentGroup) string {
	if doc == nil {
		return ""
	}
	return references.ReplaceAllString(strings.Join(strings.Fields(doc.Text()), " "), "")
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

// The schemas are those of the types as they are now.
func TestSchemasAreCurrent(t *testing.T) {
	c := &comments{t, map[string]map[string]string{}}
	for file, s := range map[string]struct {
		embedded []byte
		made     *jsonschema.Schema
	}{
		"scenario.schema.json": {schema.Scenario, scenarios.Schema(c.of)},
		"suite.schema.json":    {schema.Suite, suite(t, c)},
	} {
		made, err := json.MarshalIndent(s.made, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, '\n')
		if bytes.Equal(made, s.embedded) {
			continue
		}
		if !*update {
			t.Errorf("%s is out of date; go test ./schema -update makes it anew", file)
			continue
		}
		if err := os.WriteFile(file, made, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
