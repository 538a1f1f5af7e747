package projects

import (
	"github.com/umbra-vcs/umbra/missions"
)

// TallyProgress is a Tally and where to go on counting.
type TallyProgress struct {
	Session       string         `json:"session,omitempty"`
	Generation    int            `json:"generation,omitempty"` // of the file, as the record counts it
	Length        int64          `json:"length"`               // how much of the file is counted, up to a line's end
	LastTurnStart int64          `json:"from"`                 // where the last turn begins
	TallyBefore   missions.Tally `json:"before"`               // what is before From
	Total         missions.Tally `json:"tally"`
}
