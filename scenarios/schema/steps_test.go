package schema_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios"
)

// The parser and the schema take the same keys of each kind of step, with and without a length, and the same forms without a
// key.
func TestStepsHaveTheSameKeys(t *testing.T) {
	step := text(t, (&strictyaml.Schemas{Comment: newComments(t).of}).Document(reflect.TypeFor[scenarios.Step]()))
	schema := compiled(t, step)
	taken, examples := map[bool]int{}, stepKeys(t)
	for _, kind := range stepKinds(t) {
		forms := []string{kind, kind + ": 5s", kind + ": R", kind + ": [R, S]", kind + ": {}", kind + ": {for: 5s}", kind + ": {resource: [R, S]}"}
		for key, example := range examples {
			forms = append(forms, fmt.Sprintf("%s: {%s: %s}", kind, key, example), fmt.Sprintf("%s: {for: 5s, %s: %s}", kind, key, example))
		}
		for _, form := range forms {
			err := strictyaml.Decode("step.yaml", []byte(form+"\n"), new(scenarios.Step))
			taken[err == nil]++
			if says := schema.Validate(value(t, []byte(form))); (err == nil) != (says == nil) {
				t.Errorf("%s: the parser says %v, the schema %v", form, err, says)
			}
		}
	}
	if taken[true] < 80 || taken[false] < 300 {
		t.Errorf("%d forms were taken and %d refused: there were more", taken[true], taken[false])
	}
}

// stepKinds are the words of steps, as the schema has them.
func stepKinds(t *testing.T) []string {
	var kinds []string
	for _, form := range made(t).Definitions["written"].Properties["do"].Items.AnyOf {
		if form.Const != nil {
			kinds = append(kinds, fmt.Sprint(*form.Const))
		}
		kinds = append(kinds, form.PropertyOrder...)
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// stepKeys are the keys that steps can have, with the example of each.
func stepKeys(t *testing.T) map[string]string {
	examples := map[string]string{}
	for key, p := range made(t).Definitions["StepOn"].Properties {
		_, _, example := split(p.Description)
		if examples[key] = example; example == "" {
			t.Fatalf("%s has no example", key)
		}
	}
	delete(examples, "for") // in the other forms
	return examples
}
