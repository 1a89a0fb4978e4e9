// Writes the sample encoder with a vocabulary as an EMBD file: `FILE`.
import { openOutput, parseVocabularyText, planConversion, runConversion } from '../../dist/kit-node.js'
import { encoderModel, vocabularyText } from '../builders/encoder.mjs'
import { answer } from '../harness/measure.mjs'

const path = process.argv[2]
const { part } = parseVocabularyText(vocabularyText())
const conversion = await planConversion({ ...encoderModel(), parts: [part] }, 'embd', { name: path })
await runConversion(conversion, () => openOutput(path))
answer({ bytes: conversion.plan.size })
