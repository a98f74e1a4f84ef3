package generate

import "go/types"

// isError reports whether a type is error itself.
func isError(t types.Type) bool {
	return t != nil && types.Identical(t, types.Universe.Lookup("error").Type())
}
