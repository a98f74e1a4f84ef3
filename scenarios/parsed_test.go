package scenarios

import "testing"

// parsed is the scenario of a file that holds one, to which its first lines are added.
func parsed(t *testing.T, text string) *Scenario {
	t.Helper()
	found, err := Parse("x.yaml", []byte("title: t\nsource: s\nexplanation: e\nclaim: holds\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	return found[0]
}
