package mutants

// resource lists the bugs of the shared resource, and of a checker that cannot tell resources apart.
var resource = []Mutant{
	{
		Name:    "table-takes-any-token",
		Bug:     "an UPDATE without its WHERE clause",
		Edits:   []Edit{{"sim/storage/storage.go", "if e.Token <= c.token {", "if e.Token <= c.token && false {"}},
		Killers: []string{"50-conditional-update"},
	},
	{
		Name:    "any-version",
		Bug:     "an UPDATE without its WHERE clause, for a version column",
		Edits:   []Edit{{"sim/storage/storage.go", "slices.Contains(c.current, e.Basis)", "(len(c.current) > 0 || slices.Contains(c.current, e.Basis))"}},
		Killers: []string{"130-version-column/redisson-paused", "130-version-column/single-paused", "130-version-column/two-holders"},
	},
	{
		Name:    "one-fence-for-all",
		Bug:     "the storage compares tokens over all resources together",
		Edits:   []Edit{{"sim/storage/storage.go", "x := c.cells[e.Resource]", "x := c.cells[\"\"]"}, {"sim/storage/storage.go", "c.cells[e.Resource] = x", "c.cells[\"\"] = x"}},
		Killers: []string{"72-one-token-for-several-resources"},
	},
	{
		Name: "checker-sees-one-resource",
		Bug:  "the checker takes all resources for one",
		Edits: []Edit{
			{"checker/transcribe.go", "resource: e.Resource, grant: e.Grant,", "resource: \"all\", grant: e.Grant,"},
			{"checker/transcribe.go", "case e.Resource != \"\" && e.Resource != o.resource:\n\t\treturn fmt.Errorf(\"operation", "case e.Resource == \"\\x00\":\n\t\treturn fmt.Errorf(\"operation"},
			{"checker/transcribe.go", "case e.Resource != \"\" && e.Resource != o.resource:\n\t\treturn fmt.Errorf(\"grant", "case e.Resource == \"\\x00\":\n\t\treturn fmt.Errorf(\"grant"},
		},
		Killers: []string{"71-locks-on-several-resources/jump"},
	},
}
