// Puts the program in the place of the file that would start it by node, as a link or a copy.
// Where that fails, bin/umbra stays and starts the program.
'use strict'
const fs = require('fs')
const path = require('path')

const at = path.join(__dirname, 'bin', 'umbra')
const beside = at + '.new'
try {
  const program = require('./program')()
  fs.rmSync(beside, { force: true })
  try {
    fs.linkSync(program, beside)
  } catch (err) {
    fs.copyFileSync(program, beside)
    fs.chmodSync(beside, 0o755)
  }
  fs.renameSync(beside, at)
} catch (err) {
  console.error(err.message)
}
