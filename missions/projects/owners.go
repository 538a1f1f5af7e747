package projects

import (
	"errors"

	"github.com/umbra-vcs/umbra/gitstore"
)

// IsObjectLost tells of an error that says something stored can't be read.
func IsObjectLost(err error) bool {
	return errors.Is(err, gitstore.ErrMissing) || errors.Is(err, gitstore.ErrDamaged)
}
