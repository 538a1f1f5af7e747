package beneath

// Opened is an open file or directory: a Handle, a Dir or an *os.File.
type Opened interface{ Fd() uintptr }
