package faults

// ScalarPattern is what UnmarshalScalar reads, for strictyaml.Schemas.
func (Rate) ScalarPattern() string { return `^[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+) *%$` }
