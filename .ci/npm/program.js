// The program of the package for this system.
'use strict'

module.exports = function program() {
  const name = '@umbra-vcs/' + process.platform + '-' + process.arch
  try {
    return require.resolve(name + '/umbra')
  } catch (err) {
    throw new Error(
      'umbra: npm did not install ' + name + ': either there is none for this system, or npm was told to leave ' +
      'optional packages out. Other ways to install Umbra: https://github.com/umbra-vcs/umbra#readme'
    )
  }
}
