package doctor

import (
	"github.com/umbra-vcs/umbra/missions"
)

// checkRoom checks that something can be written: else no snapshot is taken.
func (d *Examination) checkRoom() {
	if err := d.L.Space.CheckRoom(); err != nil {
		e := missions.AsError(err)
		d.found(missions.Problem{Message: e.Message, Fix: e.Hint}, nil)
	}
}
