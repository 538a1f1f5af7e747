package missions

import (
	"context"
	"encoding/json"
	"unicode/utf8"
)

// Landings list the work of missions, for commands that make commits of it with the
// user's own git.
type Landings interface {
	PlanLanding(context.Context, LandingRequest) (LandingPlan, error)
}

// LandingRequest asks for the work of a mission, up to its newest snapshot.
type LandingRequest struct {
	Caller  Caller `json:"caller"`
	Mission string `json:"mission,omitempty"` // "" is the default one
	All     bool   `json:"all,omitempty"`     // also what others have changed in its workspace
	Force   bool   `json:"force,omitempty"`   // also while its agent is in a turn
}

// LandingPlan is how a mission's workspace became what it is.
type LandingPlan struct {
	Mission  Mission `json:"mission"`
	Snapshot string  `json:"snapshot"` // the newest one
	// Branch is where the mission's work was done last, "" where that is not known.
	Branch string `json:"branch,omitempty"`
	// Steps are oldest first. They begin with those of the mission's parents, up to the
	// fork points.
	Steps []LandingStep `json:"steps"`
}

// LandingStep is what a turn has changed, or an operation such as a promotion, or others
// in between. It lists no path that the mission itself has never changed.
type LandingStep struct {
	Key     string          `json:"key,omitempty"` // the part of its address behind the @; "" of what others have changed
	Turn    int             `json:"turn"`
	Title   string          `json:"title,omitempty"` // the prompt, in one line and cut, or the operation
	From    string          `json:"from"`            // the tree before
	To      string          `json:"to"`              // the tree afterwards
	Changes []LandingChange `json:"changes"`
}

// IsOwn reports whether a step is the mission's own work.
func (s LandingStep) IsOwn() bool { return s.Key != "" }

// ID tells a step from all others of its mission, whatever was done since.
func (s LandingStep) ID() string { return s.Key + ":" + s.From + ":" + s.To }

// LandingChange is a path that a step has changed.
type LandingChange struct {
	Path string      `json:"path"`
	From LandingFile `json:"from,omitzero"`
	To   LandingFile `json:"to,omitzero"`
}

type landingFields LandingChange // without its methods

// landingChange is a LandingChange in JSON, whose texts are UTF-8.
type landingChange struct {
	landingFields
	Bytes []byte `json:"path_bytes,omitempty"` // the path, if it is no UTF-8
}

// MarshalJSON keeps a path that is no UTF-8.
func (c LandingChange) MarshalJSON() ([]byte, error) {
	out := landingChange{landingFields: landingFields(c)}
	if !utf8.ValidString(c.Path) {
		out.Bytes = []byte(c.Path)
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON has written.
func (c *LandingChange) UnmarshalJSON(text []byte) error {
	var in landingChange
	err := json.Unmarshal(text, &in)
	if *c = LandingChange(in.landingFields); in.Bytes != nil {
		c.Path = string(in.Bytes)
	}
	return err
}

// LandingFile is a file in a snapshot; the zero one is none.
type LandingFile struct {
	Mode string `json:"mode,omitempty"` // as Git writes it
	Blob string `json:"blob,omitempty"`
}

// Exists reports whether there is a file.
func (f LandingFile) Exists() bool { return f.Blob != "" }
