// Written by fastify-contract generate from plant-store.yaml; edit that instead.
(function (schemas, exact, validatedOnce, formats, compilePattern, require, json, quote, ucs2length, hasFormat, unproven) {
"use strict"
const func10 = exact.integers["int64"]
function validate1(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){let vErrors = null;let errors = 0;const _errs1 = errors;const _errs3 = errors;if(errors === _errs3){if(data && typeof data == "object" && !Array.isArray(data)){let missing0;if(((data.name === undefined)) && (missing0 = "name")){validate1.errors = [{}];return false;}else {if(data.name !== undefined){const _errs4 = errors;if(typeof data.name !== "string"){validate1.errors = [{}];return false;}var valid4 = _errs4 === errors;}else {var valid4 = true;}if(valid4){if(data.tag !== undefined){const _errs5 = errors;if(typeof data.tag !== "string"){validate1.errors = [{}];return false;}var valid4 = _errs5 === errors;}else {var valid4 = true;}}}}else {validate1.errors = [{}];return false;}}var valid1 = _errs1 === errors;if(valid1){const _errs6 = errors;if(errors === _errs6){if(data && typeof data == "object" && !Array.isArray(data)){let missing1;if(((data.id === undefined)) && (missing1 = "id")){validate1.errors = [{}];return false;}else {if(data.id !== undefined){let data2 = data.id;if(!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))){validate1.errors = [{}];return false;}if((typeof data2 == "number") && (isFinite(data2))){if(!(func10(data2, rootData, data, "id"))){validate1.errors = [{}];return false;}}}}}else {validate1.errors = [{}];return false;}}var valid1 = _errs6 === errors;}validate1.errors = vErrors;return errors === 0;}
function validate3(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){let vErrors = null;let errors = 0;if(typeof data !== "string"){validate3.errors = [{}];return false;}validate3.errors = vErrors;return errors === 0;}
const func3 = exact.integers["int32"]
function validate4(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){let vErrors = null;let errors = 0;if(!(((typeof data == "number") && (!(data % 1) && !isNaN(data))) && (isFinite(data)))){validate4.errors = [{}];return false;}if((typeof data == "number") && (isFinite(data))){if(!(func3(data, rootData, parentData, parentDataProperty))){validate4.errors = [{}];return false;}}validate4.errors = vErrors;return errors === 0;}
function validate2(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){let vErrors = null;let errors = 0;const _errs0 = errors;if(errors === _errs0){if(data && typeof data == "object" && !Array.isArray(data)){let missing0;if(((data.name === undefined)) && (missing0 = "name")){validate2.errors = [{}];return false;}else {if(data.name !== undefined){const _errs1 = errors;if(typeof data.name !== "string"){validate2.errors = [{}];return false;}var valid1 = _errs1 === errors;}else {var valid1 = true;}if(valid1){if(data.tag !== undefined){const _errs2 = errors;if(typeof data.tag !== "string"){validate2.errors = [{}];return false;}var valid1 = _errs2 === errors;}else {var valid1 = true;}}}}else {validate2.errors = [{}];return false;}}validate2.errors = vErrors;return errors === 0;}
function validate0(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){let vErrors = null;let errors = 0;const _errs0 = errors;if(errors === _errs0){if(data && typeof data == "object" && !Array.isArray(data)){let missing0;if((((data.error === undefined)) && (missing0 = "error")) || (((data.message === undefined)) && (missing0 = "message"))){validate0.errors = [{}];return false;}else {if(data.error !== undefined){let data0 = data.error;const _errs1 = errors;if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){validate0.errors = [{}];return false;}if((typeof data0 == "number") && (isFinite(data0))){if(!(func3(data0, rootData, data, "error"))){validate0.errors = [{}];return false;}}var valid1 = _errs1 === errors;}else {var valid1 = true;}if(valid1){if(data.message !== undefined){const _errs2 = errors;if(typeof data.message !== "string"){validate0.errors = [{}];return false;}var valid1 = _errs2 === errors;}else {var valid1 = true;}}}}else {validate0.errors = [{}];return false;}}validate0.errors = vErrors;return errors === 0;}
function write0(value) {
if (typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype) {
let text = ""
{
const member = value["name"]
if (member === undefined) return undefined
const part = write2(member)
if (part === undefined) return undefined
text += (text === "" ? "{\"name\":" : ",\"name\":") + part
}
{
const member = value["tag"]
if (member !== undefined) {
const part = write2(member)
if (part === undefined) return undefined
text += ",\"tag\":" + part
}}
return text === "" ? "{}" : text + "}"
}
return undefined
}
function write1(value) {
if (typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype) {
let text = ""
{
const member = value["error"]
if (member === undefined) return undefined
const part = write3(member)
if (part === undefined) return undefined
text += (text === "" ? "{\"error\":" : ",\"error\":") + part
}
{
const member = value["message"]
if (member === undefined) return undefined
const part = write2(member)
if (part === undefined) return undefined
text += ",\"message\":" + part
}
return text === "" ? "{}" : text + "}"
}
return undefined
}
function write2(value) {
if (typeof value === "string") return true ? quote(value) : undefined
return undefined
}
function write3(value) {
if (typeof value === "bigint" && value >= -9007199254740991n && value <= 9007199254740991n) value = Number(value)
if (typeof value === "number") return Number.isSafeInteger(value) && value >= -2147483648 && value <= 2147483647 && true ? String(value) : undefined
if (typeof value === "bigint") return value >= -2147483648n && value <= 2147483647n && true ? String(value) : undefined
return undefined
}
return {
validators: [validate1,validate3,validate3,validate3,validate3,validate3,validate4,validate3,validate2,validate0,validate0,validate0,validate0],
serializers: [write0,write1,write1,write1,write1],
}
})
