ALTER TABLE `api_keys` ADD `approver_groups` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `created_by` text;