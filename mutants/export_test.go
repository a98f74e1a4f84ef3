package mutants

// AllSettings is allSettings.
var AllSettings = allSettings
