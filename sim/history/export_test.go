package history

// MaxLine is maxLine.
const MaxLine = maxLine
