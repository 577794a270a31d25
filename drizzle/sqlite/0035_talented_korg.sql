ALTER TABLE `approvals` ADD `used_by` text;--> statement-breakpoint
CREATE INDEX `approvals_of_call` ON `approvals` (`project_id`,`digest`);