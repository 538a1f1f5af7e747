package missions

// OnlyReads reports whether a request changes nothing.
func (r RestoreRequest) OnlyReads() bool { return r.Preview }

// OnlyReads reports whether a request changes nothing.
func (r UndoRequest) OnlyReads() bool { return r.Preview }

// OnlyReads reports whether a request changes nothing.
func (r RemoveRequest) OnlyReads() bool { return r.Preview }

// OnlyReads reports whether a request changes nothing.
func (r TrashRequest) OnlyReads() bool { return !r.Empty }

// OnlyReads reports whether a request changes nothing.
func (r DoctorRequest) OnlyReads() bool { return !r.Fix && !r.Rebuild }
