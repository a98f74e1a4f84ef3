package strictyaml

// MaxErrors is maxErrors.
const MaxErrors = maxErrors
