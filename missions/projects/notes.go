package projects

// Note is something that the mission's agent is to know, as further context of its
// next prompt. It is a mission's until the conversation shows that the model has
// had it: a hook that is given it may die, or its agent may not wait for it.
type Note struct {
	Kind       NoteKind `json:"kind"`
	Text       string   `json:"text"`
	TimesGiven int      `json:"given,omitempty"` // with so many prompts
	// FileOffset is where in the session's file the prompt came that it was given with.
	FileOffset int64  `json:"from,omitempty"`
	Session    string `json:"session,omitempty"`
}

// NoteKind is what a note is about; a mission has one of each at most.
type NoteKind string
